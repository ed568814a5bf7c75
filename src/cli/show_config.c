/* See show_config.h. */
#include "cli/show_config.h"

void cc_show_config(const struct cc_entries *entries, FILE *to)
{
    fputs("[uwsgi]\n", to);
    for (size_t i = 0; i < entries->count; i++) {
        const struct cc_entry *entry = &entries->items[i];
        fprintf(to, "%s = %s\n", entry->key, entry->value == NULL ? "true" : entry->value);
    }
    fputs(";end of configuration\n", to);
}
