/* The workers of one generation, as their parent keeps them: who lives, who is due to be started,
 * who has to die. Owned by the generation process; one thread. */
#ifndef CC_PROCESS_WORKERS_H
#define CC_PROCESS_WORKERS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/app_load.h"
#include "process/process.h"
#include "process/throttle.h"
#include "stats/scoreboard.h"

struct cc_workers;

struct cc_worker_entry {
    struct cc_workers *all;
    int number;  /* counts from 1 */
    pid_t pid;   /* 0: not running */
    int channel; /* our end */
    bool ready, overdue;
    int64_t started_ns, due_ns; /* due: when to start it, where pid is 0 */
    struct cc_throttle throttle;
    ev_io messages;
    ev_io exited; /* on a pidfd; fd -1: the kernel has none, and it is looked for every second */
};

struct cc_workers {
    const struct cc_launch *launch;
    struct cc_scoreboard *board;
    struct ev_loop *loop;
    int up; /* channel to the master */
    struct cc_worker_entry *entries;
    int count;
    bool stopping;   /* nobody is started any more */
    bool served;     /* all were ready at one time, and the master knows */
    bool must_load;  /* without the app all of them stop */
    bool app_failed; /* which has happened: one ended with CC_EXIT_NO_APP before all were ready */
};

void cc_workers_init(struct cc_workers *workers, const struct cc_launch *launch,
                     struct ev_loop *loop, int up);
/* Closes what it holds, without touching the processes: at the end, and in a forked worker. */
void cc_workers_clear(struct cc_workers *workers);
/* Forks one worker that is due, with the app's hooks around it. In the parent 0: go on. In the
 * worker its number, and *channel is its end of the channel. */
int cc_workers_start_due(struct cc_workers *workers, const struct cc_app_held *held, int *channel);
/* Tells them all to finish, once. */
void cc_workers_stop(struct cc_workers *workers);
/* Kills those whose request is overdue; notices those that died without a word. */
void cc_workers_check(struct cc_workers *workers);
/* Seconds until there is something to check or to start; 0: now; negative: never. */
double cc_workers_wake_in(const struct cc_workers *workers);
int cc_workers_alive(const struct cc_workers *workers);

#endif
