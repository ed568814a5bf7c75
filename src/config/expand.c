/* See expand.h. The rules are uWSGI's, measured: names are looked up as the values stand at that
 * moment, entry by entry from the top, and what was put in is read again from its second byte on.
 */
#include "config/expand.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "config/expression.h"

#define MAX_REPLACEMENTS 500 /* in one value: more is a name that leads to itself */

/* One of the three passes. */
struct pass {
    const struct cc_loader *loader;
    char symbol;
    /* What name stands for, the caller's to free; NULL: nothing, leave it. */
    char *(*lookup)(const struct pass *pass, const char *name, struct cc_place place);
};

static char *from_environment(const struct pass *pass, const char *name, struct cc_place place)
{
    const char *value = getenv(name);

    (void)pass, (void)place;
    return value == NULL ? NULL : cc_strdup(value);
}

static char *from_file(const struct pass *pass, const char *name, struct cc_place place)
{
    struct cc_err err;
    char *text;
    size_t len;

    if (pass->loader->read_file == NULL)
        return NULL;
    if (strstr(name, "://") != NULL) {
        cc_problems_add(pass->loader->problems, CC_ERROR, place,
                        "@(%s): only a file's path is supported here, no scheme", name);
        return NULL;
    }
    if (!pass->loader->read_file(name, &text, &len, &err)) {
        cc_problems_add(pass->loader->problems, CC_ERROR, place, "@(%s): %s", name, err.text);
        return NULL;
    }
    if (len > 0 && text[len - 1] == '\n')
        text[len - 1] = '\0'; /* just one, as uWSGI does */
    return text;
}

static char *from_key(const struct pass *pass, const char *name, struct cc_place place)
{
    (void)place;
    return cc_expression(pass->loader->entries, name);
}

/* Finds the next symbol-name pair from at on: "%(" ... ")". Brackets inside the name nest. */
static bool find_name(const char *value, size_t at, char symbol, struct cc_span *name)
{
    size_t start = 0; /* index of the name's first byte; 0: not inside one */
    unsigned depth = 0;

    for (size_t i = at; value[i] != '\0'; i++) {
        if (value[i] == symbol && value[i + 1] == '(') {
            start = i + 2;
            depth = 0;
            i++;
        } else if (start > 0 && value[i] == symbol) {
            start = 0;
        } else if (start > 0 && value[i] == '(') {
            depth++;
        } else if (start > 0 && value[i] == ')' && depth > 0) {
            depth--;
        } else if (start > 0 && value[i] == ')') {
            *name = (struct cc_span){value + start, i - start};
            return true;
        }
    }
    return false;
}

/* value with the name and the brackets around it replaced. */
static char *spliced(const char *value, struct cc_span name, const char *text)
{
    return cc_format("%.*s%s%s", (int)(name.at - 2 - value), value, text, name.at + name.len + 1);
}

static void expand_entry(const struct pass *pass, struct cc_entry *entry)
{
    struct cc_span name;
    size_t at = 0;
    unsigned count = 0;

    while (find_name(entry->value, at, pass->symbol, &name)) {
        char *copy = cc_strndup(name.at, name.len);
        char *text = name.len == 0 ? NULL : pass->lookup(pass, copy, entry->place);
        free(copy);
        if (text == NULL) {
            at = (size_t)(name.at - entry->value) + name.len + 1;
            continue;
        }
        char *value = spliced(entry->value, name, text);
        free(text);
        free(entry->value);
        entry->value = value;
        at = value[0] != '\0';
        if (++count > MAX_REPLACEMENTS || strlen(value) > CC_VALUE_MAX) {
            cc_problems_add(pass->loader->problems, CC_ERROR, entry->place,
                            "%s: replacing its %c(name) does not end, or gives more than %zu KiB: "
                            "does a name lead back to itself?",
                            entry->key, pass->symbol, CC_VALUE_MAX >> 10);
            return;
        }
    }
}

static void run(const struct pass *pass)
{
    struct cc_entries *entries = pass->loader->entries;

    for (size_t i = 0; i < entries->count; i++)
        if (!entries->items[i].raw && entries->items[i].value != NULL)
            expand_entry(pass, &entries->items[i]);
}

/* uWSGI leaves %(key) at a value's first byte as it is when it came in by another replacement. */
static void warn_of_leftovers(const struct cc_loader *loader)
{
    for (size_t i = 0; i < loader->entries->count; i++) {
        const struct cc_entry *entry = &loader->entries->items[i];
        struct cc_span name;
        if (entry->raw || entry->value == NULL || !find_name(entry->value, 0, '%', &name) ||
            memchr(name.at, ' ', name.len) != NULL)
            continue;
        char *key = cc_strndup(name.at, name.len);
        if (cc_entries_find(loader->entries, key) != NULL)
            cc_problems_add(loader->problems, CC_WARNING, entry->place,
                            "%s: %%(%s) stays as it is, as in uWSGI, since that key's own value "
                            "is replaced only further down: move %s up",
                            entry->key, key, key);
        free(key);
    }
}

void cc_expand(struct cc_loader *loader)
{
    cc_logic_finish(loader);
    run(&(struct pass){loader, '$', from_environment});
    run(&(struct pass){loader, '@', from_file});
    run(&(struct pass){loader, '%', from_key});
    warn_of_leftovers(loader);
}
