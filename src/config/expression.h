/* What stands between the brackets of %(...): a key, or keys and numbers with + - * / between. */
#ifndef CC_CONFIG_EXPRESSION_H
#define CC_CONFIG_EXPRESSION_H

#include "config/entries.h"

/* The text's value by the entries, which are marked as used; the caller frees it. NULL: a single
 * name that is no key. As in uWSGI an expression is worked off from left to right, what stands
 * side by side is joined, a key that is missing counts as nothing, and division by zero gives 0. */
char *cc_expression(const struct cc_entries *entries, const char *text);

#endif
