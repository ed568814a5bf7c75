/* --help, --version and the short usage, printed from the option tables. */
#ifndef CC_CLI_HELP_H
#define CC_CLI_HELP_H

#include <stdio.h>

#include "config/targets.h"

/* All options by section, or those whose name, help or section has the word in it. false: none has
 * (nothing is printed but that). */
bool cc_help_print(const struct cc_targets *targets, const char *word, FILE *to);
/* Three lines for a command line that says nothing. */
void cc_help_usage(FILE *to);

/* What --help, the man page and docs/options.md have in common: calls back for each section of the
 * tables in order (an option that several tables have comes in the section of each). */
struct cc_help_visitor {
    void *context;
    void (*section)(void *context, const char *section);
    void (*option)(void *context, const struct cc_option *option);
};
void cc_help_walk(const struct cc_targets *targets, const struct cc_help_visitor *visitor);
/* "number", "path"...; NULL: the option takes no value. */
const char *cc_help_value(const struct cc_option *option);

#endif
