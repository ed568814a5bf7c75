/* The scoreboard: a shared mapping of a memory file, made before the first fork; a header, one row
 * a worker process, one cache-line-aligned slot an app thread. One writer a slot, relaxed atomics;
 * readers never block writers. Rows count from 1, threads from 0. There are more rows than workers,
 * since one that goes and the one that replaces it live side by side: a row is not a worker's
 * number. */
#ifndef CC_STATS_SCOREBOARD_H
#define CC_STATS_SCOREBOARD_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cc_slot {
    alignas(64) _Atomic int64_t
        started_ns;            /* CLOCK_MONOTONIC when the running request began; 0: idle */
    _Atomic uint64_t requests; /* answered by this thread */
    _Atomic uint64_t busy_ns;  /* time inside the app */
    _Atomic int32_t worker;    /* its number; written by the parent before the fork */
    char method_uri[128]; /* of the running request, NUL-terminated: for the harakiri line; may be
                           * torn when read */
};

/* The shared mapping. Every process below the master can write all of it, and app code runs there:
 * whoever reads believes none of it further than to print it. */
struct cc_board_shared {
    _Atomic int used;              /* rows above this one were never anybody's */
    _Atomic uint64_t old_requests; /* of processes whose row was reset; written by their parent */
    struct cc_slot slots[];        /* rows * threads of them */
};

/* Each process has its own, with the sizes that it goes by. */
struct cc_scoreboard {
    int rows, threads;
    size_t bytes; /* of the mapping */
    int file;     /* for whoever takes over from the master; -1: closed, as below the master */
    struct cc_board_shared *shared;
};

/* NULL with errno set: no memory. */
struct cc_scoreboard *cc_scoreboard_new(int rows, int threads);
/* The mapping of a file that another binary's cc_scoreboard_new() made with these sizes; the file
 * is the scoreboard's from then on. NULL with errno set: it is none of that size. */
struct cc_scoreboard *cc_scoreboard_adopt(int file, int rows, int threads);
/* In a child, which maps it and hands it to nobody. */
void cc_scoreboard_close_file(struct cc_scoreboard *board);
void cc_scoreboard_free(struct cc_scoreboard *board);
/* When the request began that the slot's thread runs; 0: none. Never negative, so that a time that
 * somebody scribbled there can be subtracted from now. */
int64_t cc_slot_started_ns(const struct cc_slot *slot);
struct cc_slot *cc_scoreboard_slot(const struct cc_scoreboard *board, int row, int thread);
/* Sums over one row's threads. row = 0: over all, and those that are gone. */
uint64_t cc_scoreboard_requests(const struct cc_scoreboard *board, int row);
/* Nothing runs there and nothing is counted: for the next process, worker (0: nobody's). */
void cc_scoreboard_reset_row(struct cc_scoreboard *board, int row, int worker);

#endif
