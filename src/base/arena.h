/* Memory of one request: many small pieces, one release. Blocks are kept by cc_arena_reset(), so a
 * request that is used again costs no malloc. One thread at a time. */
#ifndef CC_BASE_ARENA_H
#define CC_BASE_ARENA_H

#include <stddef.h>

#include "base/span.h"

struct cc_arena_block;

struct cc_arena {
    struct cc_arena_block *blocks; /* newest first; owned */
    char *free;                    /* next free byte of the newest block */
    size_t room;                   /* bytes left in it */
};

/* An arena that is all zero is a valid empty one. */

/* size bytes, aligned for any type; never NULL. Freed by reset or clear. */
void *cc_arena_alloc(struct cc_arena *arena, size_t size);
/* A copy of the bytes with a NUL after them (which len does not count). */
struct cc_span cc_arena_copy(struct cc_arena *arena, const char *bytes, size_t len);
/* Frees everything that was handed out; keeps one block for the next use. */
void cc_arena_reset(struct cc_arena *arena);
/* Frees everything. The arena may be used again. */
void cc_arena_clear(struct cc_arena *arena);

#endif
