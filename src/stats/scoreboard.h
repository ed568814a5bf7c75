/* The scoreboard: an anonymous shared mapping made before the first fork; a header, one row a
 * worker, one cache-line-aligned slot an app thread. One writer a slot, relaxed atomics; readers
 * never block writers. Workers count from 1, threads from 0. */
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
    _Atomic uint64_t requests; /* answered by this thread, in this generation */
    _Atomic uint64_t busy_ns;  /* time inside the app */
    char method_uri[128]; /* of the running request, NUL-terminated: for the harakiri line; may be
                           * torn when read */
};

struct cc_scoreboard {
    int workers, threads;
    size_t bytes; /* of the mapping */
    /* slots follow: workers * threads of them */
};

/* NULL with errno set: no memory. */
struct cc_scoreboard *cc_scoreboard_new(int workers, int threads);
void cc_scoreboard_free(struct cc_scoreboard *board);
struct cc_slot *cc_scoreboard_slot(const struct cc_scoreboard *board, int worker, int thread);
/* Sums over one worker's threads (worker = 0: over all workers). */
uint64_t cc_scoreboard_requests(const struct cc_scoreboard *board, int worker);
/* A worker died: its threads run nothing any more. */
void cc_scoreboard_reset_worker(struct cc_scoreboard *board, int worker);

#endif
