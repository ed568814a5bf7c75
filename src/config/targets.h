/* The option tables in use, each with the struct that it fills and where each value came from. */
#ifndef CC_CONFIG_TARGETS_H
#define CC_CONFIG_TARGETS_H

#include "config/option.h"

/* Where a row's value came from. */
struct cc_origin {
    bool given; /* false: it is the default */
    struct cc_place place;
};

struct cc_target {
    const struct cc_option_table *table;
    void *settings; /* table->target_size bytes; lent */
    struct cc_origin *origins;
};

/* All zero is a valid empty list. One thread. */
struct cc_targets {
    struct cc_target *items;
    size_t count;
};

/* settings: zeroed, and valid until cc_targets_clear(). table NULL: nothing happens. */
void cc_targets_add(struct cc_targets *targets, const struct cc_option_table *table,
                    void *settings);
/* Frees what the rows hold in the settings, and the list; not the settings themselves. */
void cc_targets_clear(struct cc_targets *targets);

/* A row by name or alias; NULL: none. */
const struct cc_option *cc_option_find(const struct cc_option_table *table, const char *name);
/* The first row of that name or letter in any table; NULL: none. */
const struct cc_option *cc_targets_find(const struct cc_targets *targets, const char *name);
const struct cc_option *cc_targets_letter(const struct cc_targets *targets, char letter);
/* Where the value of the core's row of that name came from. */
struct cc_origin cc_targets_origin(const struct cc_targets *targets, const char *name);
/* The option name (of the tables, then of uWSGI's own) that is meant by a misspelt one; NULL: none
 * is near enough. */
const char *cc_targets_nearest(const struct cc_targets *targets, const char *name);

#endif
