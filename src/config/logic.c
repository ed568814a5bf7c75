/* See logic.h. The rules are uWSGI 2.0's, measured with --show-config; what %(_) stands for is part
 * of each. */
#include "config/logic.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <glob.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "config/load.h"

#define MAX_MADE_BYTES ((size_t)16 << 20)

/* What a line's %(_) becomes; a block may run it several times. */
struct run {
    struct cc_loader *loader;
    const char *key, *value;
    struct cc_place place;
};

struct cc_logic_kind {
    const char *names; /* a blank between two */
    /* A loop: adds the line once an item. */
    void (*each)(const struct run *run);
    /* A condition: whether it holds; *item: what %(_) is, NULL: it stays as it is. */
    bool (*holds)(const struct cc_loader *loader, char **item);
    bool negated;
};

/* The value with each %(_) replaced; the caller frees it. */
static char *with_item(const char *value, const char *item)
{
    struct cc_buf made = {0};
    const char *at = value;
    const char *mark;

    while ((mark = strstr(at, "%(_)")) != NULL && made.len <= CC_VALUE_MAX) {
        cc_buf_append(&made, at, (size_t)(mark - at));
        cc_buf_append(&made, item, strlen(item));
        at = mark + 4;
    }
    cc_buf_append(&made, at, strlen(at));
    char *text = cc_strdup(cc_buf_text(&made));
    cc_buf_clear(&made);
    return text;
}

/* Adds the line. false: enough, what is in the block has become too much. */
static bool add_line(const struct run *run, const char *item)
{
    struct cc_logic *logic = &run->loader->logic;
    const char *value = run->value == NULL ? "" : run->value;

    if (run->loader->full_said)
        return false;
    char *made = item == NULL ? cc_strdup(value) : with_item(value, item);
    logic->made_bytes += strlen(made) + strlen(run->key) + sizeof(struct cc_entry);
    bool fits = strlen(made) <= CC_VALUE_MAX && logic->made_bytes <= MAX_MADE_BYTES;
    if (fits) {
        logic->running = true;
        cc_load_entry(run->loader, run->key, made, run->place);
        logic->running = false;
    } else {
        cc_problems_add(run->loader->problems, CC_ERROR, run->place,
                        "%s: the block makes more of this line than a configuration can need",
                        run->key);
    }
    free(made);
    return fits;
}

/* -- Loops -- */

static void each_word(const struct run *run)
{
    char *words = cc_strdup(run->loader->logic.argument), *rest = words, *word;
    bool going = true;

    while (going && (word = strsep(&rest, " ")) != NULL)
        going = word[0] == '\0' || add_line(run, word);
    free(words);
}

static void each_number(const struct run *run)
{
    long count = strtol(run->loader->logic.argument, NULL, 10);
    char number[24];

    for (long i = 1; i <= count; i++) {
        snprintf(number, sizeof number, "%ld", i);
        if (!add_line(run, number))
            break;
    }
}

static void each_path(const struct run *run)
{
    glob_t found;

    if (run->loader->read_file == NULL || run->loader->logic.argument[0] == '\0')
        return;
    if (glob(run->loader->logic.argument, GLOB_MARK | GLOB_NOCHECK, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!add_line(run, found.gl_pathv[i]))
                break;
    globfree(&found);
}

static void each_line_of_file(const struct run *run)
{
    struct cc_loader *loader = run->loader;
    struct cc_err err;
    char *text, *line;
    size_t len;

    if (loader->read_file == NULL)
        return;
    if (!loader->read_file(loader->logic.argument, &text, &len, &err)) {
        cc_problems_add(loader->problems, CC_ERROR, loader->logic.place, "for-readline: %s: %s",
                        loader->logic.argument, err.text);
        return;
    }
    char *rest = text;
    while (rest != NULL && rest[0] != '\0' && (line = strsep(&rest, "\n")) != NULL)
        if (!add_line(run, line))
            break;
    free(text);
}

/* -- Conditions -- */

/* Splits "NAME=value" and compares; what NAME stands for is the item. */
static bool is_set(const char *argument, const char *value)
{
    const char *equals = strchr(argument, '=');
    return value != NULL && (equals == NULL || strcmp(equals + 1, value) == 0);
}

static char *name_of(const char *argument)
{
    return cc_strndup(argument, strcspn(argument, "="));
}

static void give(char **item, const char *text)
{
    *item = text == NULL ? NULL : cc_strdup(text);
}

static bool holds_env(const struct cc_loader *loader, char **item)
{
    const char *argument = loader->logic.argument;
    char *name = name_of(argument);
    const char *value = getenv(name);

    free(name);
    give(item, value);
    return is_set(argument, value);
}

static bool holds_opt(const struct cc_loader *loader, char **item)
{
    const char *argument = loader->logic.argument;
    char *name = name_of(argument);
    const struct cc_entry *entry = cc_entries_find(loader->entries, name);
    const char *value = entry == NULL ? NULL : entry->value == NULL ? "true" : entry->value;

    free(name);
    give(item, value);
    return is_set(argument, value);
}

static mode_t mode_of(const struct cc_loader *loader)
{
    struct stat status;
    bool there = loader->read_file != NULL && stat(loader->logic.argument, &status) == 0;
    return there ? status.st_mode : 0;
}

static bool holds_exists(const struct cc_loader *loader, char **item)
{
    give(item, loader->logic.argument);
    return mode_of(loader) != 0;
}

static bool holds_file(const struct cc_loader *loader, char **item)
{
    give(item, loader->logic.argument);
    return S_ISREG(mode_of(loader));
}

static bool holds_dir(const struct cc_loader *loader, char **item)
{
    give(item, loader->logic.argument);
    return S_ISDIR(mode_of(loader));
}

static void host_name(char *name, size_t size)
{
    if (gethostname(name, size) != 0)
        name[0] = '\0';
    name[size - 1] = '\0';
}

static bool holds_hostname(const struct cc_loader *loader, char **item)
{
    char name[256];

    host_name(name, sizeof name);
    give(item, loader->logic.argument);
    return strcmp(name, loader->logic.argument) == 0;
}

static bool holds_hostname_match(const struct cc_loader *loader, char **item)
{
    const char *pattern = loader->logic.argument;
    char name[256], text[128];
    PCRE2_SIZE at;
    int error;

    host_name(name, sizeof name);
    give(item, pattern);
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &error, &at, NULL);
    if (code == NULL) {
        pcre2_get_error_message(error, (PCRE2_UCHAR *)text, sizeof text);
        cc_problems_add(loader->problems, CC_ERROR, loader->logic.place,
                        "if-hostname-match: \"%s\" is no regular expression: %s, at byte %zu",
                        pattern, text, (size_t)at);
        return false;
    }
    pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
    int found = pcre2_match(code, (PCRE2_SPTR)name, PCRE2_ZERO_TERMINATED, 0, 0, match, NULL);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
    return found >= 0;
}

/* Ours are always there; others are where a line above named them. */
static bool holds_plugin(const struct cc_loader *loader, char **item)
{
    static const char *const ours[] = {"python", "python3", "http", "uwsgi"};
    const char *wanted = loader->logic.argument;

    give(item, wanted);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strcmp(ours[i], wanted) == 0)
            return true;
    for (size_t i = 0; i < loader->entries->count; i++) {
        const struct cc_entry *entry = &loader->entries->items[i];
        if (strncmp(entry->key, "plugin", 6) == 0 && entry->value != NULL &&
            cc_span_is_word(entry->value, ", ", wanted))
            return true;
    }
    return false;
}

/* A reload that reads the file again. */
static bool holds_reload(const struct cc_loader *loader, char **item)
{
    *item = NULL;
    return loader->is_reload;
}

/* -- Blocks -- */

static const struct cc_logic_kind kinds[] = {
    {"for", each_word, NULL, false},
    {"for-times", each_number, NULL, false},
    {"for-glob", each_path, NULL, false},
    {"for-readline", each_line_of_file, NULL, false},
    {"if-env ifenv", NULL, holds_env, false},
    {"if-not-env", NULL, holds_env, true},
    {"if-opt", NULL, holds_opt, false},
    {"if-not-opt", NULL, holds_opt, true},
    {"if-exists ifexists", NULL, holds_exists, false},
    {"if-not-exists", NULL, holds_exists, true},
    {"if-file", NULL, holds_file, false},
    {"if-not-file", NULL, holds_file, true},
    {"if-dir ifdir if-directory", NULL, holds_dir, false},
    {"if-not-dir", NULL, holds_dir, true},
    {"if-hostname", NULL, holds_hostname, false},
    {"if-not-hostname", NULL, holds_hostname, true},
    {"if-hostname-match", NULL, holds_hostname_match, false},
    {"if-not-hostname-match", NULL, holds_hostname_match, true},
    {"if-plugin ifplugin", NULL, holds_plugin, false},
    {"if-not-plugin", NULL, holds_plugin, true},
    {"if-reload", NULL, holds_reload, false},
    {"if-not-reload", NULL, holds_reload, true},
};

static const struct cc_logic_kind *kind_of(const char *key)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (cc_span_is_word(kinds[i].names, " ", key))
            return &kinds[i];
    return NULL;
}

static bool ends_block(const char *key)
{
    return cc_span_is_word("end endfor end-for endif end-if", " ", key);
}

static void close_block(struct cc_logic *logic)
{
    free(logic->argument);
    *logic = (struct cc_logic){.made_bytes = logic->made_bytes};
}

/* The line as --show-config shows it; it says nothing to anybody else. */
static void keep(struct cc_loader *loader, const char *key, const char *value,
                 struct cc_place place)
{
    struct cc_entry *entry = cc_load_add(loader, key, value, place);

    if (entry != NULL)
        entry->raw = true;
}

static void open_block(const struct run *run, const struct cc_logic_kind *kind)
{
    struct cc_logic *logic = &run->loader->logic;

    keep(run->loader, run->key, run->value, run->place);
    if ((run->value == NULL || run->value[0] == '\0') && kind->holds != holds_reload)
        cc_problems_add(run->loader->problems, CC_WARNING, run->place, "%s: has no value",
                        run->key);
    *logic = (struct cc_logic){.kind = kind,
                               .argument = cc_strdup(run->value == NULL ? "" : run->value),
                               .place = run->place,
                               .made_bytes = logic->made_bytes};
}

static void flip(const struct run *run)
{
    struct cc_logic *logic = &run->loader->logic;
    const char *wrong = logic->kind->holds == NULL ? "belongs to an if-... block, and this is a for"
                        : logic->flipped           ? "comes twice in this block"
                                                   : NULL;

    keep(run->loader, run->key, run->value, run->place);
    logic->flipped = true;
    if (wrong != NULL)
        cc_problems_add(run->loader->problems, CC_ERROR, run->place, "else: %s", wrong);
    else
        cc_problems_add(run->loader->problems, CC_HINT, run->place,
                        "else: uWSGI 2.0 does not know it, and would take the lines of both halves "
                        "where the condition holds, of none where it does not");
}

static void run_line(const struct run *run)
{
    struct cc_logic *logic = &run->loader->logic;
    char *item;

    if (logic->kind->each != NULL) {
        logic->kind->each(run);
        return;
    }
    bool holds = logic->kind->holds(run->loader, &item);
    if ((holds != logic->kind->negated) != logic->flipped)
        add_line(run, item);
    free(item);
}

bool cc_logic_take(struct cc_loader *loader, const char *key, const char *value,
                   struct cc_place place)
{
    struct cc_logic *logic = &loader->logic;
    struct run run = {loader, key, value, place};
    const struct cc_logic_kind *kind = kind_of(key);

    if (logic->kind == NULL && kind == NULL)
        return false; /* an end or else without a block says nothing, as in uWSGI */
    if (kind != NULL) {
        if (logic->kind == NULL)
            open_block(&run, kind);
        else
            cc_problems_add(loader->problems, CC_ERROR, place,
                            "%s: stands in the block of line %d (%s), and blocks do not nest: end "
                            "that one first",
                            key, logic->place.line, logic->argument);
        return true;
    }
    if (logic->running)
        return false;
    if (ends_block(key)) {
        keep(loader, key, value, place);
        close_block(logic);
    } else if (strcmp(key, "else") == 0) {
        flip(&run);
    } else {
        run_line(&run);
    }
    return true;
}

void cc_logic_finish(struct cc_loader *loader)
{
    if (loader->logic.kind != NULL)
        cc_problems_add(loader->problems, CC_WARNING, loader->logic.place,
                        "the block that begins here has no end: all that follows belongs to it, "
                        "as in uWSGI");
    close_block(&loader->logic);
}
