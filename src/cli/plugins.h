/* Which plugins a configuration needs, opened. */
#ifndef CC_CLI_PLUGINS_H
#define CC_CLI_PLUGINS_H

#include "config/entries.h"
#include "config/problems.h"
#include "plugin/loader.h"

/* Opens http and uwsgi, what the entries name by plugin and its aliases, and python when none of
 * those runs apps. What cannot be opened is an error in problems with the option's place; first:
 * the place of those that no option names. */
void cc_plugins_open_all(struct cc_plugins *plugins, const struct cc_entries *entries,
                         struct cc_place first, struct cc_problems *problems);

#endif
