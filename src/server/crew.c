/* See crew.h. The token says who holds the loop, in its two low bits; above them a number that
 * changes with every request that a leader runs. It moves by compare-and-swap only where two could
 * move it: between a leader that is inside the app and the relief thread. */
#include "server/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/alt_stack.h"
#include "base/clock.h"
#include "log/log.h"
#include "server/health.h"
#include "server/run.h"
#include "server/server_state.h"

enum cc_token {
    TOKEN_LEADER = 0, /* an app thread has the loop and is in it */
    TOKEN_IN_APP = 1, /* that thread is inside the app: the relief thread may take the loop */
    TOKEN_RELIEF = 2, /* the relief thread has the loop */
    TOKEN_MASK = 3,
    TOKEN_STEP = 4,
};

/* How often the relief thread looks; a leader stuck in the app for one to two of these loses the
 * loop. */
#define TICK_NS CC_MILLISECOND_NS
/* Ticks without a request after which it sleeps until it is needed. */
#define IDLE_TICKS 50
/* Average wall time of requests below which a leader runs them itself... */
#define FAST_NS INT64_C(100000)
/* ...and above which a leader hands the loop over by itself. */
#define SLOW_NS INT64_C(400000)
/* A single slow request counts at most this much, so that the average soon recovers. */
#define SAMPLE_MAX_NS INT64_C(1600000)
/* What the average becomes when a request is stuck. */
#define STUCK_NS INT64_C(800000)
/* Connections in a row that are accepted without a look at all the others. */
#define ACCEPT_BURST 16

static unsigned token_state(uint64_t token)
{
    return (unsigned)(token & TOKEN_MASK);
}

int cc_crew_busy(const struct cc_crew *crew)
{
    return atomic_load(&crew->busy);
}

void cc_crew_note_duration(struct cc_crew *crew, int64_t ns)
{
    int64_t average = atomic_load_explicit(&crew->average_ns, memory_order_relaxed);

    if (ns > SAMPLE_MAX_NS)
        ns = SAMPLE_MAX_NS;
    atomic_store_explicit(&crew->average_ns, average + (ns - average) / 8, memory_order_relaxed);
}

static bool is_fast(const struct cc_crew *crew)
{
    return atomic_load_explicit(&crew->average_ns, memory_order_relaxed) < FAST_NS;
}

/* -- Entering and leaving the app as the leader -- */

static void wake_relief(struct cc_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    atomic_store(&crew->relief_asleep, false);
    pthread_cond_signal(&crew->wakeup);
    pthread_mutex_unlock(&crew->lock);
}

uint64_t cc_crew_enter_app(struct cc_thread *thread)
{
    struct cc_crew *crew = thread->crew;
    uint64_t token = atomic_load_explicit(&crew->token, memory_order_relaxed);

    token = (token & ~(uint64_t)TOKEN_MASK) + TOKEN_STEP + TOKEN_IN_APP;
    /* The store comes before the look, and the relief thread does it the other way round: one of
     * the two sees the other. */
    atomic_store(&crew->token, token);
    if (atomic_load(&crew->relief_asleep))
        wake_relief(crew);
    return token;
}

void cc_crew_leave_app(struct cc_thread *thread, uint64_t token)
{
    uint64_t back = (token & ~(uint64_t)TOKEN_MASK) + TOKEN_LEADER;

    if (!atomic_compare_exchange_strong(&thread->crew->token, &token, back))
        thread->leads = false;
}

static void hand_to_relief(struct cc_thread *thread)
{
    struct cc_crew *crew = thread->crew;
    uint64_t token = atomic_load_explicit(&crew->token, memory_order_relaxed);

    thread->leads = false;
    atomic_store(&crew->token, (token & ~(uint64_t)TOKEN_MASK) + TOKEN_RELIEF);
    wake_relief(crew);
}

/* -- Inline mode: an app thread leads -- */

static struct cc_exchange *pop_ready(struct cc_server *server)
{
    struct cc_exchange *exchange = server->ready;

    if (exchange == NULL)
        return NULL;
    server->ready = exchange->next;
    if (server->ready == NULL)
        server->ready_end = &server->ready;
    return exchange;
}

/* All is done: everybody goes home. The caller holds the loop. */
static void finish(struct cc_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->over = true;
    pthread_cond_broadcast(&crew->work);
    pthread_cond_broadcast(&crew->wakeup);
    pthread_mutex_unlock(&crew->lock);
}

/* false: the loop was lost, or all is done. */
static bool run_ready(struct cc_thread *thread)
{
    struct cc_crew *crew = thread->crew;
    struct cc_exchange *exchange;

    do {
        cc_mailbox_take(crew->server);
        cc_health_answer(crew->server);
        while ((exchange = pop_ready(crew->server)) != NULL) {
            cc_run(thread, exchange);
            if (!thread->leads)
                return false;
            if (crew->n_threads > 1 &&
                atomic_load_explicit(&crew->average_ns, memory_order_relaxed) > SLOW_NS) {
                hand_to_relief(thread);
                return false;
            }
        }
        cc_accept_update(crew->server);
    } while (crew->server->ready != NULL || crew->server->checks != NULL);
    if (cc_server_drained(crew->server)) {
        finish(crew);
        return false;
    }
    return true;
}

/* true: all is done; false: the loop was lost. */
static bool lead(struct cc_thread *thread)
{
    struct cc_server *server = thread->crew->server;
    int burst = 0;

    while (run_ready(thread)) {
        if (burst < ACCEPT_BURST && cc_accept_again(server)) {
            burst++;
            continue;
        }
        ev_run(server->loop, burst == ACCEPT_BURST ? EVRUN_NOWAIT : EVRUN_ONCE);
        burst = 0;
    }
    return thread->leads;
}

/* -- Pool mode: app threads wait for jobs -- */

static struct cc_exchange *pop_job(struct cc_crew *crew)
{
    struct cc_exchange *exchange = crew->jobs;

    if (exchange == NULL)
        return NULL;
    crew->jobs = exchange->next;
    if (crew->jobs == NULL)
        crew->jobs_end = &crew->jobs;
    return exchange;
}

static void withdraw_claim(struct cc_thread *thread)
{
    if (thread->crew->claimant != thread)
        return;
    thread->crew->claimant = NULL;
    atomic_store(&thread->crew->claimed, false);
}

/* Asks the relief thread for the loop, if requests are fast and it has it. Under lock. */
static void claim(struct cc_thread *thread)
{
    struct cc_crew *crew = thread->crew;

    /* A lone app thread gains nothing from waiting for jobs, however slow they are. */
    if (crew->claimant != NULL || (crew->n_threads > 1 && !is_fast(crew)) ||
        token_state(atomic_load(&crew->token)) != TOKEN_RELIEF)
        return;
    crew->claimant = thread;
    atomic_store(&crew->claimed, true);
    ev_async_send(crew->server->loop, &crew->server->mail);
}

/* The next job, or NULL: the thread leads now, or all is done. */
static struct cc_exchange *wait_for_job(struct cc_thread *thread, bool *over)
{
    struct cc_crew *crew = thread->crew;
    struct cc_exchange *exchange = NULL;

    pthread_mutex_lock(&crew->lock);
    for (;;) {
        if (!thread->leads && (exchange = pop_job(crew)) != NULL)
            break;
        if (thread->leads || crew->over)
            break;
        claim(thread);
        pthread_cond_wait(&crew->work, &crew->lock);
    }
    withdraw_claim(thread);
    *over = crew->over && exchange == NULL;
    pthread_mutex_unlock(&crew->lock);
    return exchange;
}

static void *app_thread(void *argument)
{
    struct cc_thread *thread = argument;
    const struct cc_server_setup *setup = thread->crew->server->setup;
    bool has_app = setup->app_state != NULL;
    struct cc_alt_stack alt_stack;
    bool over = false;

    cc_alt_stack_set(&alt_stack);
    if (has_app && setup->app->thread_begin != NULL)
        thread->app_thread =
            setup->app->thread_begin(setup->app_state, setup->worker, thread->index);
    while (!over) {
        if (thread->leads) {
            over = lead(thread);
            continue;
        }
        struct cc_exchange *exchange = wait_for_job(thread, &over);
        if (exchange != NULL)
            cc_run(thread, exchange);
    }
    if (has_app && setup->app->thread_end != NULL)
        setup->app->thread_end(setup->app_state, thread->app_thread);
    cc_alt_stack_drop(&alt_stack);
    return NULL;
}

/* -- The relief thread -- */

static void dispatch_ready(struct cc_crew *crew)
{
    struct cc_server *server = crew->server;

    if (server->ready == NULL)
        return;
    pthread_mutex_lock(&crew->lock);
    for (struct cc_exchange *exchange; (exchange = pop_ready(server)) != NULL;) {
        exchange->next = NULL;
        *crew->jobs_end = exchange;
        crew->jobs_end = &exchange->next;
        pthread_cond_signal(&crew->work);
    }
    pthread_mutex_unlock(&crew->lock);
}

/* Gives the loop to the app thread that claims it, unless there is work for it first. */
static bool grant_claim(struct cc_crew *crew)
{
    bool granted = false;

    if (!atomic_load(&crew->claimed))
        return false;
    pthread_mutex_lock(&crew->lock);
    if (crew->claimant != NULL && crew->jobs == NULL) {
        uint64_t token = atomic_load_explicit(&crew->token, memory_order_relaxed);
        crew->claimant->leads = true;
        atomic_store(&crew->token, (token & ~(uint64_t)TOKEN_MASK) + TOKEN_LEADER);
        crew->claimant = NULL;
        granted = true;
        pthread_cond_broadcast(&crew->work);
    }
    crew->claimant = NULL;
    atomic_store(&crew->claimed, false);
    pthread_mutex_unlock(&crew->lock);
    return granted;
}

static void hold_loop(struct cc_crew *crew)
{
    struct cc_server *server = crew->server;

    for (;;) {
        cc_mailbox_take(server);
        cc_accept_update(server);
        cc_health_answer(server);
        dispatch_ready(crew);
        if (cc_server_drained(server)) {
            finish(crew);
            return;
        }
        if (grant_claim(crew))
            return;
        ev_run(server->loop, EVRUN_ONCE);
    }
}

static void wait_a_tick(struct cc_crew *crew)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_NS;
    if (until.tv_nsec >= CC_SECOND_NS) {
        until.tv_nsec -= CC_SECOND_NS;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&crew->wakeup, &crew->lock, &until);
}

/* Sleeps until a leader enters the app. Under lock. */
static void sleep_until_needed(struct cc_crew *crew, uint64_t seen)
{
    atomic_store(&crew->relief_asleep, true);
    if (atomic_load(&crew->token) != seen)
        atomic_store(&crew->relief_asleep, false);
    while (atomic_load(&crew->relief_asleep) && !crew->over)
        pthread_cond_wait(&crew->wakeup, &crew->lock);
}

/* Looks once a tick; true: the loop is this thread's now. Under lock. */
static bool take_loop(struct cc_crew *crew)
{
    uint64_t seen = atomic_load(&crew->token);
    int idle = 0;

    while (!crew->over) {
        if (token_state(seen) == TOKEN_RELIEF)
            return true;
        wait_a_tick(crew);
        uint64_t now = atomic_load(&crew->token);
        if (now != seen) {
            seen = now;
            idle = 0;
        } else if (token_state(now) == TOKEN_IN_APP) {
            uint64_t mine = (now & ~(uint64_t)TOKEN_MASK) + TOKEN_RELIEF;
            if (atomic_compare_exchange_strong(&crew->token, &now, mine)) {
                /* Known before that request ends: nothing more is to queue up behind it. */
                atomic_store_explicit(&crew->average_ns, STUCK_NS, memory_order_relaxed);
                return true;
            }
            seen = now;
        } else if (++idle > IDLE_TICKS) {
            sleep_until_needed(crew, seen);
            idle = 0;
        }
    }
    return false;
}

static void *relief_thread(void *argument)
{
    struct cc_crew *crew = argument;

    pthread_mutex_lock(&crew->lock);
    while (take_loop(crew)) {
        pthread_mutex_unlock(&crew->lock);
        hold_loop(crew);
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* -- Start and end -- */

static void init(struct cc_crew *crew, struct cc_server *server)
{
    pthread_condattr_t monotonic;

    crew->server = server;
    crew->n_threads = (int)server->setup->settings->threads;
    crew->threads = cc_alloc_zeroed((size_t)crew->n_threads, sizeof *crew->threads);
    crew->jobs_end = &crew->jobs;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->work, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->wakeup, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (int i = 0; i < crew->n_threads; i++) {
        crew->threads[i].crew = crew;
        crew->threads[i].index = i;
        crew->threads[i].slot = cc_scoreboard_slot(server->setup->board, server->setup->row, i);
    }
    crew->threads[0].leads = true;
}

/* The relief thread takes no signals but those about a thread: where a crash is, and the real-time
 * ones that ask each where it stands. App threads block none: a process that the app starts has the
 * mask of the thread that starts it, and one with SIGTERM blocked could not be ended. */
static void block_signals(sigset_t *before)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigdelset(&blocked, crashes[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigdelset(&blocked, number);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

/* name: what top and a debugger show; at most 15 bytes. */
static void start_thread(pthread_t *id, const char *name, void *(*body)(void *), void *argument)
{
    int failed = pthread_create(id, NULL, body, argument);

    if (failed != 0) {
        cc_log(CC_LOG_ERROR,
               "cannot start a thread: %s; lower the option threads or raise the "
               "limit on processes (ulimit -u)",
               strerror(failed));
        abort();
    }
    pthread_setname_np(*id, name);
}

void cc_crew_run(struct cc_crew *crew, struct cc_server *server)
{
    sigset_t before;

    init(crew, server);
    cc_accept_init(server);
    block_signals(&before);
    start_thread(&crew->relief, "cc-relief", relief_thread, crew);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* Thread 0 is the process's first, which has the process's name. */
    for (int i = 1; i < crew->n_threads; i++) {
        char name[16];
        snprintf(name, sizeof name, "cc-thread-%d", i % 100000);
        start_thread(&crew->threads[i].id, name, app_thread, &crew->threads[i]);
    }
    app_thread(&crew->threads[0]);
    for (int i = 1; i < crew->n_threads; i++)
        pthread_join(crew->threads[i].id, NULL);
    pthread_join(crew->relief, NULL);
    /* Their connections are back already, so this is a matter of a few instructions. */
    while (atomic_load(&crew->strangers) > 0)
        sched_yield();
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->work);
    pthread_cond_destroy(&crew->wakeup);
    free(crew->threads);
}
