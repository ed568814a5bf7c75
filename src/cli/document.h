/* The reference pages, printed from the option tables: `make docs` keeps docs/ccontainer.1 and
 * docs/options.md by them. */
#ifndef CC_CLI_DOCUMENT_H
#define CC_CLI_DOCUMENT_H

#include <stdio.h>

#include "config/targets.h"

void cc_document_man(const struct cc_targets *targets, FILE *to);
void cc_document_markdown(const struct cc_targets *targets, FILE *to);

#endif
