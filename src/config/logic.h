/* The blocks of an ini: for..., if-..., else, end. As in uWSGI they do not nest, they begin and end
 * in whatever file, and a condition is asked again at each of its lines. One thread. */
#ifndef CC_CONFIG_LOGIC_H
#define CC_CONFIG_LOGIC_H

#include <stdbool.h>
#include <stddef.h>

#include "config/option.h"

struct cc_loader;

/* The block that is open now. All zero: none. */
struct cc_logic {
    const struct cc_logic_kind *kind;
    char *argument; /* owned */
    struct cc_place place;
    bool flipped;      /* else has come */
    bool running;      /* a line of the block is being added */
    size_t made_bytes; /* by all blocks so far: bounds what a few lines can blow up to */
};

/* A line from whatever place. true: it belonged to a block, as its begin, end or a line in it, and
 * has been dealt with. false: the caller adds it. */
bool cc_logic_take(struct cc_loader *loader, const char *key, const char *value,
                   struct cc_place place);
/* The configuration is read: a block that is still open is a problem. */
void cc_logic_finish(struct cc_loader *loader);

#endif
