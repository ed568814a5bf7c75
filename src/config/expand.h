/* Replaces $(ENV), @(file) and %(key) in the values of entries, once all of them are there. */
#ifndef CC_CONFIG_EXPAND_H
#define CC_CONFIG_EXPAND_H

#include "config/entries.h"
#include "config/load.h"

/* In uWSGI's order: the environment in all values, then files, then keys and sums. What a name does
 * not lead to stays as it is written (log formats rely on it). Keys that were used are marked. */
void cc_expand(struct cc_loader *loader);

#endif
