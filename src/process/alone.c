/* See alone.h. */
#include "process/alone.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/log.h"
#include "process/app_load.h"
#include "process/signals.h"
#include "process/stacks.h"
#include "server/server.h"
#include "stats/scoreboard.h"
#include "system/daemon.h"
#include "system/notify.h"
#include "system/surroundings.h"

enum { N_SIGNALS = 4 };

/* Its callbacks run on whichever of the server's threads holds the loop, one at a time; there is
 * always one that holds it, also while the app's threads are busy. */
struct alone {
    const struct cc_launch *launch;
    struct cc_server *server;
    ev_signal signals[N_SIGNALS];
    ev_timer mercy;
    ev_timer watchdog; /* of the service manager */
    bool stopping;
    void (*tidy)(void *data);
    void *data;
};

/* The app's threads cannot be stopped, so nothing that they use may be freed. */
static void end_at_once(struct alone *alone, const char *why)
{
    cc_log(CC_LOG_WARN, "%s: ending with requests still running", why);
    alone->tidy(alone->data);
    _exit(CC_EXIT_OK);
}

static void on_mercy(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)events;
    end_at_once(watcher->data, "out of patience");
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    struct alone *alone = watcher->data;

    (void)events;
    if (watcher->signum == SIGHUP) {
        cc_log(CC_LOG_WARN, "SIGHUP: a reload needs a master (master = true); going on");
        return;
    }
    if (alone->stopping || watcher->signum == SIGQUIT)
        end_at_once(alone, "stopping at once");
    alone->stopping = true;
    cc_notify("STOPPING=1\nSTATUS=stopping: running requests may finish");
    cc_log(CC_LOG_INFO, "SIG%s: stopping; running requests may finish",
           sigabbrev_np(watcher->signum));
    ev_timer_start(loop, &alone->mercy);
    cc_server_stop(alone->server, CC_SUCCESSOR_NONE);
}

/* The loop turns, so somebody is there to accept. */
static void on_watchdog(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)watcher;
    (void)events;
    cc_notify("WATCHDOG=1");
}

static void start_watching(struct alone *alone)
{
    static const int numbers[N_SIGNALS] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    const struct cc_settings *settings = alone->launch->settings;
    struct ev_loop *loop = cc_server_loop(alone->server);

    for (int i = 0; i < N_SIGNALS; i++) {
        ev_signal_init(&alone->signals[i], on_signal, numbers[i]);
        alone->signals[i].data = alone;
        ev_signal_start(loop, &alone->signals[i]);
    }
    ev_timer_init(&alone->mercy, on_mercy,
                  (double)(settings->process.worker_mercy + settings->server.stop_delay), 0);
    alone->mercy.data = alone;
    double pause = (double)cc_notify_watchdog_ns() / (double)CC_SECOND_NS;
    ev_timer_init(&alone->watchdog, on_watchdog, 0, pause);
    if (pause > 0)
        ev_timer_start(loop, &alone->watchdog);
}

/* From here on another signal has its default effect, which is to end. */
static void stop_watching(struct alone *alone)
{
    struct ev_loop *loop = cc_server_loop(alone->server);

    for (int i = 0; i < N_SIGNALS; i++)
        ev_signal_stop(loop, &alone->signals[i]);
    ev_timer_stop(loop, &alone->mercy);
    ev_timer_stop(loop, &alone->watchdog);
}

static int serve(struct alone *alone, struct cc_app_held *held, struct cc_scoreboard *board)
{
    const struct cc_settings *settings = alone->launch->settings;
    struct cc_lobby lobby;
    struct cc_server_setup setup = {
        .settings = &settings->server,
        .listeners = alone->launch->listeners,
        .app = held->app,
        .app_state = held->state,
        .board = board,
        .lobby = &lobby,
        .worker = 1,
        .row = 1,
        .access_log = !settings->log.disable_logging,
        /* Nobody would replace the process: max-requests needs a master. */
        .max_requests = 0,
    };

    if (!cc_lobby_open(&lobby, settings->server.health_path != NULL))
        cc_log(CC_LOG_WARN, "health-path is not answered while all threads are busy: %s",
               strerror(errno));
    alone->server = cc_server_new(&setup);
    if (alone->server == NULL) {
        cc_log(CC_LOG_ERROR, "the server cannot be made");
        return CC_EXIT_SYSTEM;
    }
    start_watching(alone);
    cc_log(CC_LOG_INFO, "ready, without a master");
    cc_daemon_ready();
    cc_notify("READY=1\nSTATUS=serves, without a master");
    cc_server_run(alone->server);
    stop_watching(alone);
    cc_server_free(alone->server);
    cc_lobby_close(&lobby);
    return CC_EXIT_OK;
}

int cc_alone_run(const struct cc_launch *launch, void (*tidy)(void *data), void *data)
{
    const struct cc_settings *settings = launch->settings;
    const struct cc_process_settings *process = &settings->process;
    struct alone alone = {.launch = launch, .tidy = tidy, .data = data};
    const struct cc_app_place place = {.must = process->need_app, .worker = 1};
    struct cc_app_held held = {0};
    struct cc_err err;

    if (!cc_surroundings_env(&process->env, &err) ||
        !cc_surroundings_chdir(process->chdir, false, &err)) {
        cc_log(CC_LOG_ERROR, "%s", err.text);
        return CC_EXIT_SYSTEM;
    }
    cc_stacks_arm(STDERR_FILENO, &held);
    /* While the app is loaded, which may take its time, a signal ends it all. */
    cc_signals_release();
    if (!cc_app_load(&held, launch, place) && process->need_app)
        return CC_EXIT_NO_APP;
    struct cc_scoreboard *board = cc_scoreboard_new(1, (int)settings->server.threads);
    int code = board == NULL ? CC_EXIT_SYSTEM : serve(&alone, &held, board);
    cc_app_unload(&held);
    cc_scoreboard_free(board);
    return code;
}
