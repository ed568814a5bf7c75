/* Harakiri: a request that runs for too long costs its worker the life. Watched from the parent,
 * because the thread that runs it may hold whatever the worker would need to watch itself. */
#ifndef CC_PROCESS_HARAKIRI_H
#define CC_PROCESS_HARAKIRI_H

#include <stdbool.h>
#include <stdint.h>

#include "process/workers.h"
#include "stats/scoreboard.h"

/* A running request, as the scoreboard has it. */
struct cc_running {
    int64_t since_ns; /* CLOCK_MONOTONIC; 0: no request */
    char what[sizeof(((struct cc_slot *)0)->method_uri)];
};

/* The row's oldest running request. Any process; the text may be torn if it just changes. */
struct cc_running cc_harakiri_oldest(const struct cc_scoreboard *board, int row);
/* Kills the process if its oldest request is over the limit. */
void cc_harakiri_check(struct cc_worker_entry *entry, int64_t now);
/* When to look at it again; INT64_MAX: never. */
int64_t cc_harakiri_wake(const struct cc_worker_entry *entry, int64_t now);

#endif
