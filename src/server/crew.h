/* The threads of a worker, and who of them holds the loop.
 *
 * App threads run the app; the relief thread never does. Two modes:
 *   inline  an app thread (the leader) holds the loop: it polls, leaves libev, runs the ready
 *           requests itself one by one, and polls again. No hand-over, so threads cost nothing.
 *   pool    the relief thread holds the loop and dispatches; all app threads take jobs.
 * In inline mode the leader marks the loop "stealable" while it is inside the app; the relief
 * thread looks every tick, and when it finds the same request twice it takes the loop: pool mode.
 * When requests are fast again (a running average of their wall time), an app thread that has
 * nothing to do claims the loop back. Watchers' callbacks only read, parse and append to the ready
 * list, so app code never runs inside libev and whoever holds the loop may call it. */
#ifndef CC_SERVER_CREW_H
#define CC_SERVER_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cc_server;
struct cc_exchange;
struct cc_crew;

/* One app thread. Its own, but for what crew.c says. */
struct cc_thread {
    struct cc_crew *crew;
    int index; /* 0: the process's main thread */
    pthread_t id;
    void *app_thread; /* what thread_begin() returned */
    struct cc_slot *slot;
    bool leads; /* it holds the loop, unless the relief thread has stolen it */
};

struct cc_crew {
    struct cc_server *server;
    struct cc_thread *threads; /* constant after the start */
    int n_threads;
    pthread_t relief;
    /* Who holds the loop: see crew.c. */
    _Atomic uint64_t token;
    _Atomic int64_t average_ns; /* of the app's wall time a request */
    _Atomic int busy;           /* jobs queued or running, in either mode */
    _Atomic int strangers;      /* threads of the app's own that complete an exchange just now */
    atomic_bool relief_asleep;
    pthread_mutex_t lock;
    pthread_cond_t work;   /* app threads wait for jobs, or for the loop */
    pthread_cond_t wakeup; /* the relief thread waits for its tick, or for being needed */
    /* Under lock: */
    struct cc_exchange *jobs, **jobs_end;
    struct cc_thread *claimant; /* wants the loop back; NULL: nobody */
    bool over;
    atomic_bool claimed; /* claimant != NULL, for a look without the lock */
};

/* Runs the server on this thread (app thread 0) and the others until it has drained. */
void cc_crew_run(struct cc_crew *crew, struct cc_server *server);
/* The leader goes into the app: from here on the relief thread may take the loop. */
uint64_t cc_crew_enter_app(struct cc_thread *thread);
/* Takes the loop back, if it is still there; else thread->leads is false. token: from enter_app. */
void cc_crew_leave_app(struct cc_thread *thread, uint64_t token);
/* How long the app took, for the choice between the modes. Any app thread. */
void cc_crew_note_duration(struct cc_crew *crew, int64_t ns);
/* Queued or running requests; any thread. */
int cc_crew_busy(const struct cc_crew *crew);

#endif
