/* What a reload cannot do: options that only a restart changes. */
#ifndef CC_CONFIG_COMPARE_H
#define CC_CONFIG_COMPARE_H

#include "config/problems.h"
#include "config/targets.h"

/* Adds a warning, at the new value's place, for each option that has another value in now than in
 * before and that a reload cannot change. Both lists have the core's tables. */
void cc_compare_restart(const struct cc_targets *before, const struct cc_targets *now,
                        struct cc_problems *problems);

#endif
