/* The host's own options: one row each, in a table a subject; all of them fill struct cc_settings.
 * Order is that of --help and the reference: by section. Names are uWSGI's wherever it has the
 * option; those that only ccontainer has say so. */
#ifndef CC_CONFIG_OPTIONS_CORE_H
#define CC_CONFIG_OPTIONS_CORE_H

#include "config/option.h"

struct cc_settings;
struct cc_targets;

/* Adds all of the host's tables. */
void cc_options_core_add(struct cc_targets *targets, struct cc_settings *settings);
/* The host's row of that name or alias, or NULL. */
const struct cc_option *cc_options_core_find(const char *name);

/* The tables of this room's other files. */
extern const struct cc_option_table cc_options_drain;
extern const struct cc_option_table cc_options_process;
extern const struct cc_option_table cc_options_life;
extern const struct cc_option_table cc_options_cheaper;
extern const struct cc_option_table cc_options_reload;
extern const struct cc_option_table cc_options_service;

#endif
