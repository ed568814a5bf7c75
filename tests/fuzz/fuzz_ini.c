/* needs: src/config/ini_reader.c src/config/load.c src/config/words.c src/config/entries.c */
/* needs: src/config/expand.c src/config/expression.c src/config/problems.c */
/* needs: src/config/logic.c -linih -lpcre2-8 */
/* Any bytes as an ini: no crash and no hang, every line's number within the file, and nothing read
 * but the bytes (files and includes are not followed). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/expand.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))

static void fail(const char *condition)
{
    fprintf(stderr, "fuzz_ini: not true: %s\n", condition);
    abort();
}

static int count_lines(const uint8_t *bytes, size_t len)
{
    int lines = 1;

    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n';
    return lines;
}

static void check_entries(const struct cc_entries *entries, int lines)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct cc_entry *entry = &entries->items[i];
        CHECK(entry->place.line >= 1 && entry->place.line <= lines);
        CHECK(strcmp(entry->place.file, "fuzz.ini") == 0);
        CHECK(entry->value != NULL);
        CHECK(strchr(entry->key, '\n') == NULL && strchr(entry->key, '=') == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct cc_entries entries = {0};
    struct cc_problems problems = {0};
    static struct cc_loader loader; /* made once: its words ask for users and groups */

    if (loader.entries == NULL)
        cc_loader_init(&loader, &entries, &problems);
    loader.entries = &entries;
    loader.problems = &problems;
    loader.read_file = NULL;
    loader.logic.made_bytes = 0;
    loader.full_said = false;
    cc_load_text(&loader, (struct cc_span){(const char *)bytes, len}, "fuzz.ini");
    check_entries(&entries, count_lines(bytes, len));
    size_t count = entries.count;
    cc_expand(&loader);
    CHECK(entries.count == count);
    for (size_t i = 0; i < problems.count; i++)
        CHECK(problems.items[i].place.line <= count_lines(bytes, len));
    cc_problems_clear(&problems);
    cc_entries_clear(&entries);
    return 0;
}
