/* See arena.h. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#include "base/alloc.h"

#define BLOCK_SIZE ((size_t)4000) /* with malloc's own header just under a page */

struct cc_arena_block {
    struct cc_arena_block *next;
    size_t size; /* bytes of data */
    alignas(max_align_t) char data[];
};

static void add_block(struct cc_arena *arena, size_t at_least)
{
    size_t size = BLOCK_SIZE - sizeof(struct cc_arena_block);
    if (size < at_least)
        size = at_least;
    struct cc_arena_block *block = cc_alloc(sizeof *block + size);
    block->next = arena->blocks;
    block->size = size;
    arena->blocks = block;
    arena->free = block->data;
    arena->room = size;
}

static void *take(struct cc_arena *arena, size_t size)
{
    if (size > arena->room)
        add_block(arena, size);
    void *memory = arena->free;
    arena->free += size;
    arena->room -= size;
    return memory;
}

void *cc_arena_alloc(struct cc_arena *arena, size_t size)
{
    size_t align = alignof(max_align_t);
    size_t off = (size_t)(uintptr_t)arena->free % align;

    if (off != 0 && arena->room >= align - off)
        take(arena, align - off);
    else if (off != 0)
        arena->room = 0;
    return take(arena, size == 0 ? 1 : size);
}

struct cc_span cc_arena_copy(struct cc_arena *arena, const char *bytes, size_t len)
{
    char *copy = take(arena, len + 1);
    if (len > 0)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return (struct cc_span){copy, len};
}

static void free_blocks(struct cc_arena_block *block)
{
    while (block != NULL) {
        struct cc_arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void cc_arena_reset(struct cc_arena *arena)
{
    struct cc_arena_block *kept = arena->blocks;

    if (kept == NULL)
        return;
    /* A block that a large request made is not worth keeping. */
    while (kept->next != NULL && kept->size > BLOCK_SIZE) {
        struct cc_arena_block *next = kept->next;
        free(kept);
        kept = next;
    }
    free_blocks(kept->next);
    kept->next = NULL;
    arena->blocks = kept;
    arena->free = kept->data;
    arena->room = kept->size;
}

void cc_arena_clear(struct cc_arena *arena)
{
    free_blocks(arena->blocks);
    *arena = (struct cc_arena){0};
}
