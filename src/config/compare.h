/* What a reload cannot do: options that only a restart changes. */
#ifndef CC_CONFIG_COMPARE_H
#define CC_CONFIG_COMPARE_H

#include "config/problems.h"
#include "config/targets.h"

/* Such an option, with its value as text; NULL: none. */
struct cc_option_value {
    char *name, *value; /* owned */
};

/* Adds a warning, at the new value's place, for each option that has another value in now than in
 * before and that a reload cannot change. Both lists have the core's tables. */
void cc_compare_restart(const struct cc_targets *before, const struct cc_targets *now,
                        struct cc_problems *problems);

/* The two halves of it, where before is another process's. Sets *values, an array to be given to
 * cc_compare_free(), and returns how many they are. */
size_t cc_compare_note(const struct cc_targets *targets, struct cc_option_value **values);
void cc_compare_noted(const struct cc_option_value *values, size_t count,
                      const struct cc_targets *now, struct cc_problems *problems);
void cc_compare_free(struct cc_option_value *values, size_t count);

#endif
