/* Harakiri: a request that runs for too long costs its worker the life. Watched from the parent,
 * because the thread that runs it may hold whatever the worker would need to watch itself.
 *
 * When a request is too old, the log has it first, then where every thread of the worker stands;
 * only then another process is started in the worker's place. When that serves, the other requests
 * of the old one get their time to finish, and it is killed when none but those too old is left. */
#ifndef CC_PROCESS_HARAKIRI_H
#define CC_PROCESS_HARAKIRI_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/scoreboard.h"

struct cc_worker_entry;

enum cc_harakiri_stage {
    CC_HARAKIRI_NOT,
    CC_HARAKIRI_ASKED,    /* for a report of its stacks */
    CC_HARAKIRI_REPORTED, /* is to be replaced, and then killed */
};

/* Part of an entry. */
struct cc_harakiri {
    enum cc_harakiri_stage stage;
    int64_t next_ns;     /* ASKED: when the report is waited for no longer; REPORTED: next look */
    int64_t reported_ns; /* when REPORTED began */
    int quiet;           /* looks in a row that saw no other request */
};

/* A running request, as the scoreboard has it. */
struct cc_running {
    int64_t since_ns; /* CLOCK_MONOTONIC; 0: no request */
    int thread;
    char what[sizeof(((struct cc_slot *)0)->method_uri)];
};

/* What that thread runs. Any process; the text may be torn if it just changes. */
struct cc_running cc_harakiri_running(const struct cc_slot *slot);
/* The row's oldest running request. Any process; the text may be torn if it just changes. */
struct cc_running cc_harakiri_oldest(const struct cc_scoreboard *board, int row);
/* Takes the process a step further on the way above, if it is on it or has to be. */
void cc_harakiri_check(struct cc_worker_entry *entry, int64_t now);
/* When to look at it again; INT64_MAX: never. */
int64_t cc_harakiri_wake(const struct cc_worker_entry *entry, int64_t now);

#endif
