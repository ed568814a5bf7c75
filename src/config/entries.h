/* The lines of a configuration in the order in which they count, whatever they came from: files,
 * the environment, the command line. One thread. */
#ifndef CC_CONFIG_ENTRIES_H
#define CC_CONFIG_ENTRIES_H

#include "config/option.h"

struct cc_entry {
    char *key;   /* owned */
    char *value; /* owned; NULL: a flag that the command line gave without a value */
    struct cc_place place;
    bool raw;         /* acted on as it was read, so nothing in it is replaced (include, set-ph) */
    bool placeholder; /* set by set-ph: a name for %(key), never an option */
    bool used;        /* some %(key) named it */
};

/* All zero is a valid empty list. */
struct cc_entries {
    struct cc_entry *items;
    size_t count;
    char **names; /* the places' file names; owned, as long as the list */
    size_t n_names;
};

/* Copies key and value. The entry is lent until the next addition. */
struct cc_entry *cc_entries_add(struct cc_entries *entries, const char *key, const char *value,
                                struct cc_place place);
/* A copy of the name that lives as long as the list, for places. */
const char *cc_entries_name(struct cc_entries *entries, const char *name);
/* The first entry of that key, as %(key) means it; NULL: there is none. */
struct cc_entry *cc_entries_find(const struct cc_entries *entries, const char *key);
void cc_entries_clear(struct cc_entries *entries);

#endif
