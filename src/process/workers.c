/* See workers.h. */
#include "process/workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/channel.h"
#include "process/harakiri.h"
#include "process/spawn.h"

static void on_message(struct ev_loop *loop, ev_io *watcher, int events);
static void on_exit_of(struct ev_loop *loop, ev_io *watcher, int events);

void cc_workers_init(struct cc_workers *workers, const struct cc_launch *launch,
                     struct ev_loop *loop, int up)
{
    int count = (int)launch->settings->process.processes;

    *workers = (struct cc_workers){.launch = launch, .loop = loop, .up = up, .count = count};
    workers->entries = cc_alloc_zeroed((size_t)count, sizeof *workers->entries);
    for (int i = 0; i < count; i++) {
        struct cc_worker_entry *entry = &workers->entries[i];
        entry->all = workers;
        entry->number = i + 1;
        entry->channel = -1;
        ev_io_init(&entry->messages, on_message, -1, EV_READ);
        ev_io_init(&entry->exited, on_exit_of, -1, EV_READ);
        entry->messages.data = entry->exited.data = entry;
    }
}

/* Lets go of a worker's descriptors. */
static void let_go(struct cc_worker_entry *entry)
{
    struct ev_loop *loop = entry->all->loop;

    ev_io_stop(loop, &entry->messages);
    ev_io_stop(loop, &entry->exited);
    if (entry->channel >= 0)
        close(entry->channel);
    if (entry->exited.fd >= 0)
        close(entry->exited.fd);
    entry->channel = -1;
    ev_io_set(&entry->exited, -1, EV_READ);
}

void cc_workers_clear(struct cc_workers *workers)
{
    for (int i = 0; i < workers->count; i++)
        let_go(&workers->entries[i]);
    free(workers->entries);
    workers->entries = NULL;
    workers->count = 0;
}

static void tell_master(struct cc_workers *workers, enum cc_message_kind kind,
                        const struct cc_worker_entry *entry, int status)
{
    struct cc_message message = {.kind = kind, .status = status};

    if (entry != NULL) {
        message.worker = entry->number;
        message.pid = (int32_t)entry->pid;
    }
    /* A master that is gone shows as the end of the channel. */
    cc_channel_send(workers->up, message);
}

static void began(struct cc_worker_entry *entry, pid_t pid, int channel)
{
    struct cc_workers *workers = entry->all;

    entry->pid = pid;
    entry->channel = channel;
    entry->ready = entry->overdue = false;
    entry->started_ns = cc_clock_ns();
    ev_io_set(&entry->messages, channel, EV_READ);
    ev_io_start(workers->loop, &entry->messages);
    /* Not SIGCHLD: the app was loaded here and may have its own ideas about that signal. */
    ev_io_set(&entry->exited, (int)syscall(SYS_pidfd_open, pid, 0), EV_READ);
    if (entry->exited.fd >= 0)
        ev_io_start(workers->loop, &entry->exited);
    tell_master(workers, CC_MESSAGE_STARTED, entry, 0);
}

static void cannot_start(struct cc_worker_entry *entry, const char *what)
{
    int delay = cc_throttle_delay(&entry->throttle, false, 0);

    if (delay == 0)
        delay = 1;
    cc_log(CC_LOG_ERROR, "worker %d cannot be started: %s: %s; next try in %d seconds",
           entry->number, what, strerror(errno), delay);
    entry->due_ns = cc_clock_ns() + delay * CC_SECOND_NS;
}

/* 0 in the parent, the number in the worker. */
static int start(struct cc_worker_entry *entry, const struct cc_app_held *held, int *channel)
{
    char name[16];
    int ends[2];

    if (!cc_channel_open(ends)) {
        cannot_start(entry, "socketpair");
        return 0;
    }
    cc_scoreboard_reset_worker(entry->all->board, entry->number);
    snprintf(name, sizeof name, "cc-worker-%d", entry->number);
    if (held->state != NULL && held->app->before_fork != NULL)
        held->app->before_fork(held->state);
    pid_t pid = cc_spawn(name);
    if (pid == 0) {
        close(ends[0]);
        *channel = ends[1];
        return entry->number;
    }
    int saved = errno;
    if (held->state != NULL && held->app->after_fork_parent != NULL)
        held->app->after_fork_parent(held->state);
    close(ends[1]);
    errno = saved;
    if (pid < 0) {
        close(ends[0]);
        cannot_start(entry, "fork");
    } else {
        began(entry, pid, ends[0]);
    }
    return 0;
}

int cc_workers_start_due(struct cc_workers *workers, const struct cc_app_held *held, int *channel)
{
    int64_t now = cc_clock_ns();

    for (int i = 0; i < workers->count && !workers->stopping; i++) {
        struct cc_worker_entry *entry = &workers->entries[i];
        if (entry->pid != 0 || entry->due_ns > now)
            continue;
        int number = start(entry, held, channel);
        if (number != 0)
            return number;
    }
    return 0;
}

void cc_workers_stop(struct cc_workers *workers)
{
    if (workers->stopping)
        return;
    workers->stopping = true;
    for (int i = 0; i < workers->count; i++)
        if (workers->entries[i].pid != 0)
            cc_channel_send(workers->entries[i].channel,
                            (struct cc_message){.kind = CC_MESSAGE_STOP});
}

static void on_message(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct cc_worker_entry *entry = watcher->data;
    struct cc_workers *workers = entry->all;
    struct cc_message message;
    enum cc_received got;
    int ready = 0;

    (void)events;
    while ((got = cc_channel_receive(watcher->fd, &message)) == CC_RECEIVED)
        if (message.kind == CC_MESSAGE_READY)
            entry->ready = true;
        else if (message.kind == CC_MESSAGE_RELOAD)
            tell_master(workers, CC_MESSAGE_RELOAD, entry, 0);
        else if (message.kind == CC_MESSAGE_REPLACE)
            cc_channel_send(entry->channel, (struct cc_message){.kind = CC_MESSAGE_STOP});
    if (got == CC_RECEIVED_GONE)
        ev_io_stop(loop, watcher); /* its death is told by the pidfd */
    for (int i = 0; i < workers->count; i++)
        ready += workers->entries[i].ready;
    if (workers->served || ready < workers->count)
        return;
    workers->served = true;
    tell_master(workers, CC_MESSAGE_READY, NULL, 0);
}

/* Why it ended and what happens next; one line. */
static void say_end(const struct cc_worker_entry *entry, int status, int delay)
{
    const struct cc_workers *workers = entry->all;
    struct cc_running running = cc_harakiri_oldest(workers->board, entry->number);
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == CC_EXIT_OK;
    char fate[64], next[64] = "";

    if (!workers->stopping)
        snprintf(next, sizeof next, delay == 0 ? "; starting another" : "; next try in %d s",
                 delay);
    if (entry->overdue)
        return; /* said when it was killed */
    if (clean && workers->stopping)
        return;
    if (clean && entry->ready) {
        cc_log(CC_LOG_INFO, "worker %d (pid %d) has ended%s%s", entry->number, (int)entry->pid,
               workers->launch->settings->process.max_requests > 0 ? " (max-requests)" : "", next);
        return;
    }
    cc_log(CC_LOG_WARN, "worker %d (pid %d) %s%s%s%s", entry->number, (int)entry->pid,
           cc_spawn_fate(status, fate, sizeof fate),
           running.since_ns != 0 ? " while it ran " : (entry->ready ? "" : " before it was ready"),
           running.what, next);
}

static void ended(struct cc_worker_entry *entry, int status)
{
    struct cc_workers *workers = entry->all;
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == CC_EXIT_OK && entry->ready;
    int delay = 0;

    /* max-requests and SIGTERM are no reason to wait. */
    if (!clean)
        delay =
            cc_throttle_delay(&entry->throttle, entry->ready, cc_clock_ns() - entry->started_ns);
    if (workers->must_load && !workers->served && WIFEXITED(status) &&
        WEXITSTATUS(status) == CC_EXIT_NO_APP) {
        workers->app_failed = true;
        cc_workers_stop(workers);
    }
    say_end(entry, status, delay);
    cc_scoreboard_reset_worker(workers->board, entry->number);
    tell_master(workers, CC_MESSAGE_ENDED, entry, status);
    let_go(entry);
    entry->pid = 0;
    entry->ready = false;
    entry->due_ns = cc_clock_ns() + delay * CC_SECOND_NS;
}

static void reap(struct cc_worker_entry *entry)
{
    int status = 0;
    pid_t pid = waitpid(entry->pid, &status, WNOHANG);

    /* ECHILD: the app reaped it, or has SIGCHLD ignored: dead all the same. */
    if (pid == entry->pid || (pid < 0 && errno == ECHILD))
        ended(entry, pid < 0 ? W_EXITCODE(CC_EXIT_SYSTEM, 0) : status);
}

static void on_exit_of(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    reap(watcher->data);
}

static void check_deadline(struct cc_worker_entry *entry, int64_t limit_s)
{
    struct cc_running running = cc_harakiri_oldest(entry->all->board, entry->number);
    int64_t ran_ns = cc_clock_ns() - running.since_ns;

    if (running.since_ns == 0 || entry->overdue || ran_ns < limit_s * CC_SECOND_NS)
        return;
    entry->overdue = true;
    cc_log(CC_LOG_WARN,
           "harakiri: worker %d (pid %d) is killed: %s has run for %d seconds (the limit is %d)",
           entry->number, (int)entry->pid, running.what, (int)(ran_ns / CC_SECOND_NS),
           (int)limit_s);
    kill(entry->pid, SIGKILL);
}

void cc_workers_check(struct cc_workers *workers)
{
    int64_t limit_s = workers->launch->settings->process.harakiri;

    for (int i = 0; i < workers->count; i++) {
        struct cc_worker_entry *entry = &workers->entries[i];
        if (entry->pid != 0 && limit_s > 0)
            check_deadline(entry, limit_s);
        if (entry->pid != 0 && entry->exited.fd < 0)
            reap(entry);
    }
}

/* Of one worker, by the clock: when it has to be looked at; INT64_MAX: never. */
static int64_t wake_of(const struct cc_worker_entry *entry, int64_t now)
{
    const struct cc_workers *workers = entry->all;
    int64_t limit_ns = workers->launch->settings->process.harakiri * CC_SECOND_NS;

    if (entry->pid == 0)
        return workers->stopping ? INT64_MAX : entry->due_ns;
    if (limit_ns == 0)
        return entry->exited.fd < 0 ? now + CC_SECOND_NS : INT64_MAX;
    /* A request that begins after this look is seen by the next. */
    int64_t since = cc_harakiri_oldest(workers->board, entry->number).since_ns;
    int64_t deadline = since == 0 || entry->overdue ? INT64_MAX : since + limit_ns;
    return deadline < now + CC_SECOND_NS ? deadline : now + CC_SECOND_NS;
}

double cc_workers_wake_in(const struct cc_workers *workers)
{
    int64_t now = cc_clock_ns(), soonest = INT64_MAX;

    for (int i = 0; i < workers->count; i++) {
        int64_t wake = wake_of(&workers->entries[i], now);
        if (wake < soonest)
            soonest = wake;
    }
    if (soonest == INT64_MAX)
        return -1;
    return soonest <= now ? 0 : (double)(soonest - now) / (double)CC_SECOND_NS;
}

int cc_workers_alive(const struct cc_workers *workers)
{
    int alive = 0;

    for (int i = 0; i < workers->count; i++)
        alive += workers->entries[i].pid != 0;
    return alive;
}
