/* Entries to settings, by the option tables. */
#ifndef CC_CONFIG_APPLY_H
#define CC_CONFIG_APPLY_H

#include "config/entries.h"
#include "config/problems.h"
#include "config/targets.h"

/* Sets every default, then every entry in order: a single value's last entry wins, a list keeps
 * them all. Names that no table has are sorted out: a %(key) that is used is fine, what uWSGI knows
 * and ccontainer does not do is one warning that names them all, anything else is a warning with
 * the nearest name or a hint. With strict = true the last two are errors. */
void cc_apply(const struct cc_entries *entries, struct cc_targets *targets,
              struct cc_problems *problems);
/* The defaults alone. */
void cc_apply_defaults(struct cc_targets *targets, struct cc_problems *problems);

#endif
