/* --show-config: the resolved options as an ini. */
#ifndef CC_CLI_SHOW_CONFIG_H
#define CC_CLI_SHOW_CONFIG_H

#include <stdio.h>

#include "config/entries.h"

/* "[uwsgi]", a line "key = value" for each entry in order, ";end of configuration": what uWSGI
 * prints, placeholders and all. */
void cc_show_config(const struct cc_entries *entries, FILE *to);

#endif
