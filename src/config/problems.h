/* What is wrong with a configuration: collected with its places, printed all at once. One thread.
 */
#ifndef CC_CONFIG_PROBLEMS_H
#define CC_CONFIG_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attributes.h"
#include "config/option.h"

enum cc_severity { CC_HINT, CC_WARNING, CC_ERROR };

struct cc_problem {
    enum cc_severity severity;
    struct cc_place place;
    char *text; /* "option: what was found, what was expected" */
};

/* All zero is a valid empty list. */
struct cc_problems {
    struct cc_problem *items;
    size_t count;
    size_t errors; /* how many of them are CC_ERROR */
};

void cc_problems_add(struct cc_problems *problems, enum cc_severity severity, struct cc_place place,
                     const char *format, ...) CC_PRINTF(4, 5);
/* Prints "file:line: text" (or "command line: text") lines of at least this severity, in the order
 * of files and lines, and nothing else. */
void cc_problems_print(const struct cc_problems *problems, enum cc_severity least, FILE *to);
void cc_problems_clear(struct cc_problems *problems);

#endif
