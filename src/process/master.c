/* See master.h. The loop, signals and the end; what to start and stop is decided in reload.c. */
#include "process/master.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/log.h"
#include "process/adopt.h"
#include "process/control.h"
#include "process/fifo.h"
#include "process/generation.h"
#include "process/master_state.h"
#include "process/service.h"
#include "process/signals.h"
#include "process/strays.h"
#include "process/touch.h"
#include "process/upgrade.h"

/* How long killed processes may take to go; only one that hangs in the kernel takes longer. */
#define KILL_PATIENCE_S 5.0

enum { ON_TERM, ON_INT, ON_QUIT, ON_HUP, ON_CHILD, N_SIGNALS };

struct watchers {
    ev_signal signals[N_SIGNALS];
    ev_timer wake;  /* a generation is due */
    ev_timer mercy; /* the end of patience with those that stop */
    struct cc_service service;
    struct cc_touch touch;
    struct cc_fifo fifo;
    struct cc_control control;
    struct cc_upgrade upgrade;
};

static void kill_all(struct cc_master *master)
{
    struct cc_link *list = &master->generations.list;

    master->killing = true;
    for (struct cc_link *link = list->next; link != list; link = link->next)
        cc_generation_kill(CC_CONTAINER(link, struct cc_generation, link));
}

static void stop_all(struct cc_master *master)
{
    struct cc_link *list = &master->generations.list;

    master->stopping = true;
    for (struct cc_link *link = list->next; link != list; link = link->next)
        cc_generation_stop(CC_CONTAINER(link, struct cc_generation, link), CC_SUCCESSOR_NONE, 0);
}

static void begin_stop(struct cc_master *master, struct watchers *watchers, bool now)
{
    int64_t delay = master->launch->settings->server.stop_delay;
    int64_t mercy = master->launch->settings->process.worker_mercy + delay;
    bool at_once = master->stopping || now;

    cc_log(CC_LOG_INFO, "%sstopping%s", master->stop_why,
           at_once ? " at once" : "; running requests may finish");
    if (!at_once && delay > 0)
        cc_log(CC_LOG_INFO, "all is served for %lld s more (stop-delay)", (long long)delay);
    if (!at_once) {
        stop_all(master);
        ev_timer_set(&watchers->mercy, (double)mercy, 0);
        ev_timer_start(master->loop, &watchers->mercy);
        return;
    }
    master->stopping = true;
    kill_all(master);
    ev_timer_stop(master->loop, &watchers->mercy);
    ev_timer_set(&watchers->mercy, KILL_PATIENCE_S, 0);
    ev_timer_start(master->loop, &watchers->mercy);
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    struct cc_master *master = ev_userdata(loop);
    struct watchers *watchers = watcher->data;

    (void)events;
    if (watcher->signum == SIGHUP) {
        cc_service_reload(&watchers->service);
        cc_master_ask_reload(master);
    } else {
        snprintf(master->stop_why, sizeof master->stop_why,
                 "SIG%s: ", sigabbrev_np(watcher->signum));
        begin_stop(master, watchers, watcher->signum == SIGQUIT);
    }
}

static void on_mercy(struct ev_loop *loop, ev_timer *watcher, int events)
{
    struct cc_master *master = ev_userdata(loop);

    (void)events;
    if (master->killing) {
        cc_log(CC_LOG_ERROR, "a killed process does not go (it hangs in the kernel); leaving it");
        cc_generations_clear(&master->generations, NULL);
        return;
    }
    cc_log(CC_LOG_WARN, "requests are still running after %d seconds: killed",
           (int)master->launch->settings->process.worker_mercy);
    kill_all(master);
    ev_timer_set(watcher, KILL_PATIENCE_S, 0);
    ev_timer_start(loop, watcher);
}

static void on_child(struct ev_loop *loop, ev_signal *watcher, int events)
{
    struct cc_master *master = ev_userdata(loop);
    struct watchers *watchers = watcher->data;
    int status;
    pid_t pid;

    (void)events;
    /* Any child: as process 1 of a container, and as the subreaper of what a generation leaves. */
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct cc_generation *generation = cc_generations_of(&master->generations, pid);
        if (cc_upgrade_reaped(&watchers->upgrade, master, pid, status))
            continue;
        if (generation == NULL) {
            cc_generations_reaped(&master->generations, pid);
            continue;
        }
        cc_generation_listen(generation);
        cc_master_generation_died(master, generation, status);
        cc_generation_bereave(generation);
    }
}

static void on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)watcher;
    (void)events; /* ev_run() returns: that is all */
}

static void begin(struct cc_master *master, struct watchers *watchers,
                  const struct cc_master_setup *setup)
{
    static const int numbers[N_SIGNALS] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGCHLD};

    master->loop = ev_loop_new(EVFLAG_NOENV);
    ev_set_userdata(master->loop, master);
    cc_generations_init(&master->generations, master->loop);
    for (int i = 0; i < N_SIGNALS; i++) {
        ev_signal_init(&watchers->signals[i], i == ON_CHILD ? on_child : on_signal, numbers[i]);
        watchers->signals[i].data = watchers;
        ev_signal_start(master->loop, &watchers->signals[i]);
    }
    cc_signals_release();
    ev_timer_init(&watchers->wake, on_wake, 0, 0);
    ev_timer_init(&watchers->mercy, on_mercy, 0, 0);
    cc_service_begin(&watchers->service, master->loop);
    cc_touch_begin(&watchers->touch, master->loop);
    cc_fifo_begin(&watchers->fifo, master->loop);
    cc_upgrade_begin(&watchers->upgrade, master->loop);
    watchers->upgrade.control = &watchers->control;
    watchers->upgrade.fifo = &watchers->fifo;
    watchers->upgrade.service = &watchers->service;
    watchers->upgrade.pidfile = setup->pidfile;
    watchers->upgrade.pidfile2 = setup->pidfile2;
    if (setup->handover == NULL)
        cc_control_begin(&watchers->control, master->loop);
    /* Workers whose generation dies become ours to reap, and not those of process 1. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* All that the old binary had; what comes next is a reload. */
static void adopt(struct cc_master *master, struct watchers *watchers,
                  const struct cc_handover *handover, struct cc_listeners *handed)
{
    cc_control_adopt(&watchers->control, master->loop, handover);
    if (handover->fifo.fd >= 0)
        cc_fifo_adopt(&watchers->fifo, handover->fifo.fd, handover->fifo.text);
    cc_adopt_generations(&master->generations, handover);
    cc_service_adopt(&watchers->service);
    master->handed = handed;
    master->last_handed = handover->started;
    master->upgraded_from = handover->from;
    master->started_ns = handover->started_ns;
    master->paused = handover->paused;
    master->served = true;
    master->reload = master->just_read = true;
    /* Whoever ended meanwhile is not announced again. */
    ev_feed_signal_event(master->loop, SIGCHLD);
}

/* Also in a child, which has none of this. */
static void clear(struct cc_master *master, struct watchers *watchers,
                  const struct cc_scoreboard *kept)
{
    cc_generations_clear(&master->generations, kept);
    cc_service_end(&watchers->service, master->loop);
    cc_touch_end(&watchers->touch);
    cc_fifo_end(&watchers->fifo, kept == NULL);
    cc_control_end(&watchers->control);
    cc_upgrade_end(&watchers->upgrade, kept != NULL);
    cc_adopt_free_listeners(master->handed);
    master->handed = NULL;
    for (int i = 0; i < N_SIGNALS; i++)
        ev_signal_stop(master->loop, &watchers->signals[i]);
    ev_loop_destroy(master->loop);
}

static void wait_for_event(struct cc_master *master, struct watchers *watchers)
{
    double seconds = cc_master_wake_in(master);

    ev_timer_stop(master->loop, &watchers->wake);
    if (seconds >= 0) {
        ev_now_update(master->loop);
        ev_timer_set(&watchers->wake, seconds, 0);
        ev_timer_start(master->loop, &watchers->wake);
    }
    ev_run(master->loop, EVRUN_ONCE);
}

/* True in the child: *born is what it shall be. */
static bool start_due(struct cc_master *master, struct cc_generation_setup *born)
{
    bool must_load;
    struct cc_launch *launch = cc_master_due(master, &must_load);

    if (launch == NULL)
        return false;
    struct cc_generation *generation = cc_generations_start(&master->generations, launch, born);
    if (born->number != 0) {
        born->must_load = must_load;
        return true;
    }
    if (generation == NULL)
        cc_master_cannot_start(master);
    else
        cc_master_started(master, generation);
    return false;
}

/* In the child. Returns its exit code. */
static int become_generation(struct cc_master *master, struct watchers *watchers,
                             const struct cc_generation_setup *born)
{
    clear(master, watchers, born->board);
    cc_master_release(master, born->launch);
    /* libev has just put the signals that the master watched back to what kills. */
    cc_signals_default();
    int code = cc_generation_run(born);
    cc_scoreboard_free(born->board);
    return code;
}

/* The ways to give orders are those of the configuration that counts now. false: the first FIFO
 * cannot be had, which ends the start. */
static bool follow_settings(struct cc_master *master, struct watchers *watchers)
{
    const struct cc_reload_settings *settings = &master->launch->settings->reload;
    struct cc_err err;

    if (master->followed == master->launch)
        return true;
    master->followed = master->launch;
    cc_touch_follow(&watchers->touch, settings);
    if (cc_fifo_follow(&watchers->fifo, &settings->master_fifo, &err))
        return true;
    cc_log(CC_LOG_ERROR, "%s", err.text);
    return false;
}

/* What there is to do between two runs of the loop. */
static void turn(struct cc_master *master, struct watchers *watchers)
{
    cc_master_app_asks(master, master->generations.reload_asked);
    master->generations.reload_asked = false;
    cc_mercy_look_frozen(master);
    if (master->reload)
        cc_service_reload(&watchers->service);
    if (master->stop_asked)
        begin_stop(master, watchers, master->stop_now);
    master->stop_asked = false;
    cc_master_take_over(master);
    cc_mercy_check(master);
    cc_generations_bury(&master->generations);
    cc_service_update(&watchers->service, master);
    follow_settings(master, watchers);
    /* Who waits for a reload is answered by the binary that did it; who waits for the upgrade only
     * where that fails. */
    cc_control_update(&watchers->control, master);
    cc_upgrade_turn(&watchers->upgrade, master);
    cc_control_update(&watchers->control, master);
}

int cc_master_run(const struct cc_master_setup *setup)
{
    struct cc_master master = {.launch = *setup->launch, .started_ns = cc_clock_ns()};
    struct watchers watchers;
    struct cc_generation_setup born;

    begin(&master, &watchers, setup);
    if (setup->handover != NULL)
        adopt(&master, &watchers, setup->handover, setup->handed);
    if (!follow_settings(&master, &watchers) && setup->handover == NULL) {
        master.stopping = true;
        master.code = CC_EXIT_SYSTEM;
    }
    for (;;) {
        turn(&master, &watchers);
        if (master.stopping && cc_link_alone(&master.generations.list))
            break;
        unsigned ended = master.reloads_ended;
        /* Forks happen here and not inside the loop's callbacks, so that the child can drop it. */
        if (start_due(&master, &born)) {
            setup->in_child(setup->data);
            *setup->launch = born.launch;
            return become_generation(&master, &watchers, &born);
        }
        /* Who waits for a reload that has failed already is told before anything else. */
        if (ended == master.reloads_ended)
            wait_for_event(&master, &watchers);
    }
    clear(&master, &watchers, NULL);
    cc_strays_wait();
    cc_master_drop_candidate(&master);
    *setup->launch = master.launch;
    return master.code;
}
