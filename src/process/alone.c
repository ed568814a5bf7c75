/* See alone.h. With one thread the app runs on the thread that holds the loop, so a request that
 * hangs would keep a signal from being seen. Hence a thread of its own for signals: the handler
 * writes a byte, the thread reads it. */
#include "process/alone.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "log/log.h"
#include "process/app_load.h"
#include "process/surroundings.h"
#include "server/server.h"
#include "stats/scoreboard.h"

/* Of the handler: it has no other way to know. Set before it is installed. */
static int signal_pipe = -1;

struct alone {
    const struct cc_launch *launch;
    struct cc_server *server;
    ev_async stop; /* the signal thread's way to the loop */
    int pipe[2];
    pthread_t thread;
    void (*tidy)(void *data);
    void *data;
};

static void on_signal(int number)
{
    unsigned char byte = (unsigned char)number;
    int saved = errno;
    ssize_t written = write(signal_pipe, &byte, 1);

    (void)written; /* full: a stop is under way many times over */
    errno = saved;
}

static void on_stop(struct ev_loop *loop, ev_async *watcher, int events)
{
    struct alone *alone = watcher->data;

    (void)loop;
    (void)events;
    cc_server_stop(alone->server);
}

static void end_at_once(struct alone *alone, const char *why)
{
    cc_log(CC_LOG_WARN, "%s: ending with requests still running", why);
    alone->tidy(alone->data);
    _exit(CC_EXIT_OK);
}

/* The signal thread. A byte is a signal's number; 0: serving is over. */
static void *watch_signals(void *data)
{
    struct alone *alone = data;
    int mercy_ms = (int)alone->launch->settings->process.worker_mercy * 1000;
    struct pollfd readable = {.fd = alone->pipe[0], .events = POLLIN};
    bool stopping = false;
    unsigned char number;

    for (;;) {
        if (poll(&readable, 1, stopping ? mercy_ms : -1) == 0)
            end_at_once(alone, "out of patience");
        if (read(alone->pipe[0], &number, 1) != 1)
            continue;
        if (number == 0)
            return NULL;
        if (number == SIGHUP) {
            cc_log(CC_LOG_WARN, "SIGHUP: a reload needs a master (master = true); going on");
            continue;
        }
        if (stopping || number == SIGQUIT)
            end_at_once(alone, "stopping at once");
        stopping = true;
        cc_log(CC_LOG_INFO, "SIG%s: stopping; running requests may finish", sigabbrev_np(number));
        ev_async_send(cc_server_loop(alone->server), &alone->stop);
    }
}

static bool start_watching(struct alone *alone)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t all, before;

    if (pipe2(alone->pipe, O_CLOEXEC) != 0)
        return false;
    signal_pipe = alone->pipe[1];
    ev_async_init(&alone->stop, on_stop);
    alone->stop.data = alone;
    ev_async_start(cc_server_loop(alone->server), &alone->stop);
    /* The thread takes no signal itself: the app's code may wait for one to interrupt a call. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = pthread_create(&alone->thread, NULL, watch_signals, alone);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (errno != 0)
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    return true;
}

static void stop_watching(struct alone *alone)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    ssize_t written;

    /* The end is near; another signal would only leave things half done. */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &ignore, NULL);
    do
        written = write(alone->pipe[1], "", 1);
    while (written < 0 && errno == EINTR);
    pthread_join(alone->thread, NULL);
    ev_async_stop(cc_server_loop(alone->server), &alone->stop);
    close(alone->pipe[0]);
    close(alone->pipe[1]);
}

static int serve(struct alone *alone, struct cc_app_held *held, struct cc_scoreboard *board)
{
    const struct cc_settings *settings = alone->launch->settings;
    struct cc_server_setup setup = {
        .settings = &settings->server,
        .listeners = alone->launch->listeners,
        .app = held->app,
        .app_state = held->state,
        .board = board,
        .worker = 1,
        .access_log = !settings->log.disable_logging,
        /* Nobody would replace the process: max-requests needs a master. */
        .max_requests = 0,
    };

    alone->server = cc_server_new(&setup);
    if (alone->server == NULL || !start_watching(alone)) {
        cc_log(CC_LOG_ERROR, "the server cannot be made: %s", strerror(errno));
        return CC_EXIT_SYSTEM;
    }
    cc_log(CC_LOG_INFO, "ready, without a master");
    cc_server_run(alone->server);
    stop_watching(alone);
    cc_server_free(alone->server);
    return CC_EXIT_OK;
}

int cc_alone_run(const struct cc_launch *launch, void (*tidy)(void *data), void *data)
{
    const struct cc_settings *settings = launch->settings;
    const struct cc_process_settings *process = &settings->process;
    struct alone alone = {.launch = launch, .tidy = tidy, .data = data};
    struct cc_app_held held;
    struct cc_err err;

    if (!cc_surroundings_env(&process->env, &err) ||
        !cc_surroundings_chdir(process->chdir, false, &err)) {
        cc_log(CC_LOG_ERROR, "%s", err.text);
        return CC_EXIT_SYSTEM;
    }
    if (!cc_app_load(&held, launch, process->need_app) && process->need_app)
        return CC_EXIT_NO_APP;
    struct cc_scoreboard *board = cc_scoreboard_new(1, (int)settings->server.threads);
    int code = board == NULL ? CC_EXIT_SYSTEM : serve(&alone, &held, board);
    cc_app_unload(&held);
    cc_scoreboard_free(board);
    return code;
}
