/* See plugins.h. */
#include "cli/plugins.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/span.h"
#include "config/options_core.h"
#include "config/targets.h"

/* What the opening works on. */
struct opening {
    struct cc_plugins *plugins;
    struct cc_problems *problems;
    struct cc_texts folders; /* the items' texts are lent by the entries */
};

static bool is_option(const struct cc_entry *entry, const char *name)
{
    const struct cc_option *row = cc_options_core_find(entry->key);
    return row != NULL && strcmp(row->name, name) == 0 && entry->value != NULL &&
           !entry->placeholder;
}

static void add_folder(struct opening *opening, char *folder, struct cc_place place)
{
    struct cc_texts *folders = &opening->folders;

    folders->items = cc_realloc(folders->items, (folders->count + 1) * sizeof *folders->items);
    folders->items[folders->count++] = (struct cc_text){folder, place};
}

static void open_one(const struct opening *opening, const char *name, struct cc_place place)
{
    struct cc_err err;

    if (!cc_plugins_open(opening->plugins, name, &opening->folders, &err))
        cc_problems_add(opening->problems, CC_ERROR, place, "plugin: %s", err.text);
}

/* "0:python3", "/usr/lib/uwsgi/plugins/python3_plugin.so" and "python3" name the same. The caller
 * frees the name; "": nothing is named. */
static char *plain_name(const char *word, size_t len)
{
    static const char *const endings[] = {"_plugin.so", ".so"};
    char *name = cc_strndup(word, len);
    const char *start = name;
    const char *colon = strchr(name, ':');

    if (colon != NULL && strspn(name, "0123456789") == (size_t)(colon - name))
        start = colon + 1;
    if (strrchr(start, '/') != NULL)
        start = strrchr(start, '/') + 1;
    size_t rest = strlen(start);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (rest > ending && strcmp(start + rest - ending, endings[i]) == 0) {
            rest -= ending;
            break;
        }
    }
    char *plain = cc_strndup(start, rest);
    free(name);
    return plain;
}

static void open_named(const struct opening *opening, const struct cc_entry *entry)
{
    for (const char *at = entry->value; *at != '\0';) {
        size_t len = strcspn(at, ",");
        struct cc_span word = cc_span_trim((struct cc_span){at, len});
        char *name = plain_name(word.at, word.len);
        if (cc_plugins_needless(name))
            cc_problems_add(opening->problems, CC_HINT, entry->place,
                            "%s: \"%s\" is built in, no plugin is needed", entry->key, name);
        else if (name[0] != '\0')
            open_one(opening, name, entry->place);
        free(name);
        at += len + (at[len] == ',');
    }
}

void cc_plugins_open_all(struct cc_plugins *plugins, const struct cc_entries *entries,
                         struct cc_place first, struct cc_problems *problems)
{
    struct opening opening = {plugins, problems, {0}};

    for (size_t i = 0; i < entries->count; i++)
        if (is_option(&entries->items[i], "plugins-dir"))
            add_folder(&opening, entries->items[i].value, entries->items[i].place);
    open_one(&opening, "http", first);
    open_one(&opening, "uwsgi", first);
    for (size_t i = 0; i < entries->count; i++)
        if (is_option(&entries->items[i], "plugins"))
            open_named(&opening, &entries->items[i]);
    if (cc_plugins_app(plugins) == NULL)
        open_one(&opening, "python", first);
    free(opening.folders.items);
}
