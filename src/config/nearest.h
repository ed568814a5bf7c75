/* Which of many names is meant by a misspelt one. */
#ifndef CC_CONFIG_NEAREST_H
#define CC_CONFIG_NEAREST_H

#include "base/span.h"

#define CC_NEAREST_MAX 48 /* longer names are not compared */

/* On the caller's stack. */
struct cc_nearest {
    struct cc_span name;
    struct cc_span best; /* empty: nothing near enough so far */
    unsigned distance;   /* of best; without one: the least that is too far */
};

/* name: lent. Near enough is: one slip in a word of up to five letters, two in one of up to nine,
 * three in a longer one (a letter too many, too few, wrong, or two that changed places). */
void cc_nearest_init(struct cc_nearest *nearest, const char *name);
/* The first of several that are equally near stays. */
void cc_nearest_consider(struct cc_nearest *nearest, struct cc_span candidate);

#endif
