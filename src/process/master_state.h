/* What the files of the master share; nobody else includes it. */
#ifndef CC_PROCESS_MASTER_STATE_H
#define CC_PROCESS_MASTER_STATE_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "process/generations.h"
#include "process/process.h"
#include "process/throttle.h"

/* Owned by the master's only thread. */
struct cc_master {
    const struct cc_launch *launch;
    struct ev_loop *loop;
    struct cc_generations generations;
    struct cc_throttle throttle; /* of generations that die */
    int64_t due_ns;              /* when the next may be started */
    bool served;                 /* one was ready at some time */
    bool reload;                 /* somebody asked for one that has not begun */
    bool stopping, killing;
    int code; /* exit code, once stopping */
};

/* reload.c: which generation to start, stop and keep. */

/* A SIGHUP came. */
void cc_master_ask_reload(struct cc_master *master);
/* True: a generation has to be started now; *must_load: without the app it is of no use. */
bool cc_master_wants_generation(const struct cc_master *master, bool *must_load);
/* Seconds until the above becomes true by itself; negative: never. */
double cc_master_wake_in(const struct cc_master *master);
/* Not even a process could be had: try again later. */
void cc_master_cannot_start(struct cc_master *master);
/* After each event: a generation that came to serve takes over from those before it. */
void cc_master_take_over(struct cc_master *master);
/* A generation was reaped with this status of waitpid(); its state is the one that it had. */
void cc_master_generation_died(struct cc_master *master, const struct cc_generation *generation,
                               int status);

#endif
