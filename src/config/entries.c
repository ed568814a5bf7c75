/* See entries.h. */
#include "config/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct cc_entry *cc_entries_add(struct cc_entries *entries, const char *key, const char *value,
                                struct cc_place place)
{
    entries->items = cc_realloc(entries->items, (entries->count + 1) * sizeof *entries->items);
    struct cc_entry *entry = &entries->items[entries->count++];
    *entry = (struct cc_entry){.key = cc_strdup(key), .place = place};
    if (value != NULL)
        entry->value = cc_strdup(value);
    return entry;
}

const char *cc_entries_name(struct cc_entries *entries, const char *name)
{
    for (size_t i = 0; i < entries->n_names; i++)
        if (strcmp(entries->names[i], name) == 0)
            return entries->names[i];
    entries->names = cc_realloc(entries->names, (entries->n_names + 1) * sizeof *entries->names);
    return entries->names[entries->n_names++] = cc_strdup(name);
}

struct cc_entry *cc_entries_find(const struct cc_entries *entries, const char *key)
{
    for (size_t i = 0; i < entries->count; i++)
        if (strcmp(entries->items[i].key, key) == 0)
            return &entries->items[i];
    return NULL;
}

void cc_entries_clear(struct cc_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        free(entries->items[i].key);
        free(entries->items[i].value);
    }
    for (size_t i = 0; i < entries->n_names; i++)
        free(entries->names[i]);
    free(entries->items);
    free(entries->names);
    *entries = (struct cc_entries){0};
}
