/* A worker: one server with its app threads, from start to end. */
#ifndef CC_PROCESS_WORKER_H
#define CC_PROCESS_WORKER_H

#include "process/app_load.h"
#include "process/process.h"
#include "stats/scoreboard.h"

struct cc_worker_setup {
    const struct cc_launch *launch;
    struct cc_scoreboard *board;
    int number;                   /* counts from 1 */
    int row;                      /* of the board */
    const struct cc_lobby *lobby; /* the generation's */
    pid_t master;                 /* its process, for the app */
    int channel;                  /* to the generation */
    int report;                   /* for reports of its stacks; stays open */
    bool must_load;               /* lazy-apps: without the app it ends with CC_EXIT_NO_APP */
};

/* Serves in a process that was just forked for it, until it is told to stop, its parent is gone, it
 * or it gets SIGTERM. held: the app, loaded before the fork; with
 * lazy-apps it is loaded here. Unloads it. Returns the exit code. */
int cc_worker_run(const struct cc_worker_setup *setup, struct cc_app_held *held);

#endif
