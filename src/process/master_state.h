/* What the files of the master share; nobody else includes it. */
#ifndef CC_PROCESS_MASTER_STATE_H
#define CC_PROCESS_MASTER_STATE_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"

#include "process/generations.h"
#include "process/process.h"
#include "process/throttle.h"

/* Owned by the master's only thread. */
struct cc_master {
    struct cc_launch *launch;         /* what serves, and what is started again when it dies */
    struct cc_launch *candidate;      /* of a reload that is under way; NULL: none */
    const struct cc_launch *followed; /* the one whose ways to give orders are open */
    int candidate_number;             /* of the generation that was started from it; 0: none yet */
    struct ev_loop *loop;
    struct cc_generations generations;
    struct cc_throttle throttle; /* of generations that die */
    struct cc_throttle asking;   /* of reloads that the app asks for */
    int64_t asked_due_ns;        /* when it gets the next one; 0: it does not ask */
    int64_t serving_since_ns;    /* the generation with this number */
    int serving_number;
    int64_t due_ns; /* when the next may be started */
    bool served;    /* one was ready at some time */
    bool reload;    /* somebody asked for one that has not begun */
    bool in_turn;   /* a reload has ended the old generation before the new one */
    bool brutal;    /* that reload gives the old generation no time */
    bool paused;    /* nobody accepts */
    /* Reloads are counted so that whoever waits for one knows it: each that begins ends. */
    unsigned reloads_begun, reloads_ended;
    int reload_number;  /* of the generation that the last one started */
    bool reload_failed; /* the last one that ended */
    char reload_result[160];
    /* Upgrades that this binary was asked for, none of which succeeded: it would be gone. */
    unsigned upgrades_begun, upgrades_ended;
    char upgrade_result[4352];
    bool upgrade_asked, upgrading;
    const char *upgraded_from;   /* until the first reload has ended; NULL: this is no upgrade */
    struct cc_listeners *handed; /* what the old binary listened on; NULL: none, or over */
    int last_handed;             /* the number of the old binary's last generation */
    bool just_read;              /* the configuration: the next reload takes it as it is */
    int64_t started_ns;
    char stop_why[24];
    bool stop_asked, stop_now; /* by an order; begins in the next turn of the loop */
    bool stopping, killing;
    int code; /* exit code, once stopping */
};

/* reload.c: which generation to start, stop and keep. */

/* The reload that is under way, if one is, has ended so. */
void cc_master_reload_ended(struct cc_master *master, bool failed, const char *format, ...)
    CC_PRINTF(3, 4);

/* A reload is wanted, for whatever reason. */
void cc_master_ask_reload(struct cc_master *master);
/* The launch that a generation has to be started from now, or NULL. A reload begins here: the
 * configuration is read again. *must_load: without the app the generation is of no use. */
struct cc_launch *cc_master_due(struct cc_master *master, bool *must_load);
/* That generation is started. */
void cc_master_started(struct cc_master *master, const struct cc_generation *generation);
/* Not even a process could be had: try again later. */
void cc_master_cannot_start(struct cc_master *master);
/* Seconds until a generation is due or out of time; negative: never. */
double cc_master_wake_in(const struct cc_master *master);
/* After each event: a generation that came to serve takes over from those before it. */
void cc_master_take_over(struct cc_master *master);
/* A generation was reaped with this status of waitpid(); its state is the one that it had. */
void cc_master_generation_died(struct cc_master *master, const struct cc_generation *generation,
                               int status);
/* The reload that is under way comes to nothing: what its launch opened is closed and removed. */
void cc_master_drop_candidate(struct cc_master *master);
/* In a child: releases the launches but kept. */
void cc_master_release(struct cc_master *master, const struct cc_launch *kept);

/* Has the reload begin that an app asked for, when it is due; asks: it has just done so. One that
 * does so again and again is slowed down. */
void cc_master_app_asks(struct cc_master *master, bool asks);

/* mercy.c: what is left of a generation after its time is killed. */

/* It has so many seconds from now on. */
void cc_mercy_grant(struct cc_generation *generation, int64_t seconds);
/* Kills those that are out of time, and says which requests they were running. */
void cc_mercy_check(struct cc_master *master);
/* Names what the generation's workers are running; at most a few requests. */
void cc_mercy_say_running(const struct cc_generation *generation);
/* Looks for generations that a signal has stopped, and has another started in the place of one that
 * stays so. */
void cc_mercy_look_frozen(struct cc_master *master);
/* When that has to be looked at again; INT64_MAX: at the next SIGCHLD. */
int64_t cc_mercy_frozen_wake(const struct cc_generation *generation);

#endif
