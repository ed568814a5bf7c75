/* The generations that live, as the master keeps them, with the workers that each has forked.
 * Owned by the master; one thread. */
#ifndef CC_PROCESS_GENERATIONS_H
#define CC_PROCESS_GENERATIONS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "handover/handover.h"
#include "process/generation.h"
#include "process/process.h"
#include "server/server.h"
#include "stats/scoreboard.h"

enum cc_generation_state {
    CC_GENERATION_STARTING, /* loads the app, forks its workers */
    CC_GENERATION_SERVING,
    CC_GENERATION_STOPPING, /* was told to finish */
    CC_GENERATION_DEAD,     /* reaped; kept until its workers are reaped too */
};

struct cc_generations;

struct cc_generation {
    struct cc_link link;
    struct cc_generations *all;
    enum cc_generation_state state;
    bool loaded; /* it may have workers that serve */
    int number;  /* counts from 1 */
    pid_t pid;   /* 0: reaped */
    int channel;
    ev_io messages;
    int64_t started_ns;
    int64_t deadline_ns; /* when the master's patience with it ends; 0: never */
    int64_t frozen_ns; /* when it was seen stopped by a signal, or last acted upon; 0: it is not */
    bool given_up;     /* it was stopped for too long: another is started in its place */
    struct cc_scoreboard *board;
    pid_t *workers; /* by row of the board - 1; 0: not running */
    int n_workers, n_threads;
    bool may_idle_out; /* die-on-idle: it may ask for the end of everything */
};

struct cc_generations {
    struct cc_link list; /* oldest first */
    struct ev_loop *loop;
    int started;       /* how many there have been */
    bool reload_asked; /* by an app that serves; whoever does it clears it */
};

/* One that another binary has started; board is its own from then on. */
void cc_generations_adopt(struct cc_generations *all, const struct cc_handed_generation *handed,
                          struct cc_scoreboard *board);
void cc_generations_init(struct cc_generations *all, struct ev_loop *loop);
/* Frees all of it without touching the processes. kept: a scoreboard that stays mapped, or NULL. */
void cc_generations_clear(struct cc_generations *all, const struct cc_scoreboard *kept);
/* Forks one of the launch. In the parent: the new one, or NULL (the log has said why). In the
 * child: NULL too, and *born is filled for cc_generation_run() but for what the caller knows;
 * born->number is 0 in the parent. */
struct cc_generation *cc_generations_start(struct cc_generations *all, struct cc_launch *launch,
                                           struct cc_generation_setup *born);
/* Tells it to finish and end; seconds: what its requests get, 0: worker-reload-mercy. One that
 * still loads the app is killed. */
void cc_generation_stop(struct cc_generation *generation, enum cc_successor successor,
                        int64_t seconds);
void cc_generation_kill(struct cc_generation *generation);
/* The one of this state that was started last, or NULL. */
struct cc_generation *cc_generations_find(const struct cc_generations *all,
                                          enum cc_generation_state state);
/* The one with this pid, or NULL. */
struct cc_generation *cc_generations_of(const struct cc_generations *all, pid_t pid);
/* Reads what it has said so far. App code runs there, so its word is taken for itself alone: it can
 * neither keep us here, nor make us signal others; what is no message costs it its life. */
void cc_generation_listen(struct cc_generation *generation);
/* It was reaped: what it left of its workers is killed, if it is our child by now. */
void cc_generation_bereave(struct cc_generation *generation);
/* A child that is no generation was reaped: a worker that outlived its generation, or a stray. */
void cc_generations_reaped(struct cc_generations *all, pid_t pid);
/* Forgets the dead whose workers are gone as well. */
void cc_generations_bury(struct cc_generations *all);

#endif
