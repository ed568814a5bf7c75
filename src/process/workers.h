/* The workers of one generation, as their parent keeps them. A seat is what is wanted: worker 1 to
 * N, as the app and the log know it. An entry is a process that sits there, is about to, or has
 * left it and finishes its requests; there are more entries than seats, so that a replacement can
 * start beside the one that it replaces. Owned by the generation process; one thread.
 *
 * workers.c is the table, and what the generation asks of it; worker_entry.c one process: fork,
 * channel, stop, kill, reap; replace.c who sits where and who replaces whom; obituary.c what the
 * log says of a death; life.c limits that end a worker; harakiri.c requests that are too old;
 * autopsy.c reports of stacks; idle.c no workers until a client connects; cheaper.c their number.
 */
#ifndef CC_PROCESS_WORKERS_H
#define CC_PROCESS_WORKERS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/app_load.h"
#include "process/cheaper.h"
#include "process/harakiri.h"
#include "process/idle.h"
#include "process/process.h"
#include "process/report.h"
#include "process/throttle.h"
#include "server/server.h"
#include "stats/scoreboard.h"

struct cc_workers;
struct cc_seat;

enum cc_entry_state {
    CC_ENTRY_FREE,     /* no process */
    CC_ENTRY_STARTING, /* forked; has not said that it serves */
    CC_ENTRY_SERVING,
    CC_ENTRY_STOPPING, /* was told to finish, or finishes by itself; sits nowhere */
};

struct cc_worker_entry {
    struct cc_workers *all;
    int row;              /* of the board; counts from 1 */
    struct cc_seat *seat; /* the one that it was started for */
    enum cc_entry_state state;
    pid_t pid;
    int channel; /* our end; -1: none */
    int64_t started_ns;
    int64_t kill_at_ns; /* STOPPING: when mercy ends; INT64_MAX: never */
    bool was_ready;     /* it came to serve */
    bool explained;     /* the log has said why it dies */
    int64_t frozen_ns;  /* when it was first seen stopped by a signal; 0: it is not */
    bool woken;         /* it was told to go on, so that it can finish */
    struct cc_harakiri harakiri;
    struct cc_report report; /* of its stacks, as it writes them */
    int heard;               /* messages in the second that began at heard_ns */
    int64_t heard_ns;
    ev_io messages;
    ev_io exited; /* on a pidfd; fd -1: the kernel has none, and it is looked for every second */
};

/* Why the process in a seat is to be replaced; replace.c has the words for it. */
enum cc_replace_why {
    CC_REPLACE_NOT,
    CC_REPLACE_MAX_REQUESTS,
    CC_REPLACE_APP, /* the app asked for it */
    CC_REPLACE_LIFETIME,
    CC_REPLACE_RSS,
    CC_REPLACE_AS,
    CC_REPLACE_HARAKIRI,
    CC_REPLACE_FROZEN,  /* stopped by a signal */
    CC_REPLACE_RECYCLE, /* everybody at once */
    CC_REPLACE_CHAIN,   /* one after another */
};

/* One that serves, one that replaces it, and one that still finishes its requests: no seat may take
 * more of the entries, whatever its processes do. */
#define CC_ENTRIES_A_SEAT 3

struct cc_seat {
    struct cc_workers *all;
    int n_entries;                  /* that were started for it and live */
    int number;                     /* counts from 1 */
    bool wanted;                    /* somebody has to sit here */
    struct cc_worker_entry *holder; /* who serves, or is the first to start; NULL: nobody yet */
    struct cc_worker_entry *next;   /* starts to replace the holder; NULL: nobody */
    enum cc_replace_why why;        /* the holder is to be replaced */
    int64_t replace_ns;             /* not before this time */
    int64_t due_ns;                 /* nobody is started before this time */
    struct cc_throttle throttle;
};

struct cc_workers {
    const struct cc_launch *launch;
    struct cc_scoreboard *board;
    struct ev_loop *loop;
    int up; /* channel to the master */
    struct cc_worker_entry *entries;
    int n_entries;
    struct cc_seat *seats;
    int n_seats;
    int64_t looked_ns; /* when it was last looked at what is looked at each second */
    struct cc_idle idle;
    struct cc_cheaper cheaper;
    int chain;                   /* the seat that a chain reload has come to; 0: none runs */
    bool paused;                 /* nobody accepts */
    bool stopping;               /* nobody is started any more */
    int mercy_s;                 /* then: seconds until they are killed; 0: worker-reload-mercy */
    enum cc_successor successor; /* of those that are told to stop */
    bool served;                 /* all were ready at one time, and the master knows */
    bool must_load;              /* without the app all of them stop */
    bool app_failed;         /* which has happened: one ended without being ready before all were */
    bool reload_asked;       /* a worker's app did, and the master is to be told */
    int64_t reload_asked_ns; /* when the master was told last */
};

/* What a process that was just forked is. */
struct cc_worker_birth {
    int number, row;
    int channel;   /* to the generation; its own */
    int report;    /* where it writes reports of its stacks; its own */
    bool replaces; /* another serves in its seat */
};

/* How many entries, and rows of the board, so many workers need. */
int cc_workers_rows(int processes);
/* board: of cc_workers_rows() rows; lent. */
void cc_workers_init(struct cc_workers *workers, const struct cc_launch *launch,
                     struct cc_scoreboard *board, struct ev_loop *loop, int up);
/* Wants the first workers. must_load is set by then. */
void cc_workers_begin(struct cc_workers *workers);
/* Closes what it holds, without touching the processes: at the end, and in a forked worker. */
void cc_workers_clear(struct cc_workers *workers);
/* Forks those that are due, with the app's hooks around it. true: this is a worker, and *born says
 * which; false in the parent. */
bool cc_workers_start_due(struct cc_workers *workers, const struct cc_app_held *held,
                          struct cc_worker_birth *born);
/* How many are started at first, and when a client ends the cheap state. */
int cc_workers_initial(const struct cc_workers *workers);
/* From here on so many seats are wanted: further ones are filled, those too many finish and end. */
void cc_workers_want(struct cc_workers *workers, int count);
/* How many are wanted now. */
int cc_workers_wanted(const struct cc_workers *workers);
/* Tells them all to finish, once. */
void cc_workers_stop(struct cc_workers *workers, enum cc_successor successor);
/* Has them accept nobody, or accept again; further ones too. */
void cc_workers_pause(struct cc_workers *workers, bool on);
/* Kills them all. */
void cc_workers_kill(struct cc_workers *workers);
/* What the clock asks for: kills whose request or whose mercy is over, and so on. */
void cc_workers_check(struct cc_workers *workers);
/* Seconds until there is something to check or to start; 0: now; negative: never. */
double cc_workers_wake_in(const struct cc_workers *workers);
int cc_workers_alive(const struct cc_workers *workers);

#endif
