/* See worker_entry.h. What a worker says is not believed beyond its own seat: messages are counted,
 * their numbers are not used, and who gets a signal is known from fork() alone. */
#include "process/worker_entry.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/log.h"
#include "plugin/app.h"
#include "process/frozen.h"
#include "process/harakiri.h"
#include "process/replace.h"
#include "process/spawn.h"

/* A worker says a handful of things in its life. */
#define MESSAGES_A_TURN   16
#define MESSAGES_A_SECOND 200

static void on_message(struct ev_loop *loop, ev_io *watcher, int events);
static void on_exit_of(struct ev_loop *loop, ev_io *watcher, int events);

void cc_entry_init(struct cc_worker_entry *entry, struct cc_workers *workers, int row)
{
    entry->all = workers;
    entry->row = row;
    entry->channel = -1;
    ev_io_init(&entry->messages, on_message, -1, EV_READ);
    ev_io_init(&entry->exited, on_exit_of, -1, EV_READ);
    entry->messages.data = entry->exited.data = entry;
}

void cc_entry_clear(struct cc_worker_entry *entry)
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
    cc_report_close(&entry->report);
}

static void began(struct cc_worker_entry *entry, struct cc_seat *seat, pid_t pid, int channel)
{
    struct ev_loop *loop = entry->all->loop;

    entry->seat = seat;
    entry->state = CC_ENTRY_STARTING;
    entry->pid = pid;
    entry->channel = channel;
    entry->started_ns = cc_clock_ns();
    entry->kill_at_ns = INT64_MAX;
    entry->was_ready = entry->explained = entry->woken = false;
    entry->frozen_ns = 0;
    entry->harakiri = (struct cc_harakiri){0};
    entry->heard = 0;
    ev_io_set(&entry->messages, channel, EV_READ);
    ev_io_start(loop, &entry->messages);
    /* Not SIGCHLD: the app was loaded here and may have its own ideas about that signal. */
    ev_io_set(&entry->exited, (int)syscall(SYS_pidfd_open, pid, 0), EV_READ);
    if (entry->exited.fd >= 0)
        ev_io_start(loop, &entry->exited);
}

/* What parent and child talk over; the child's ends are in *born. false with errno set. */
static bool open_ends(struct cc_worker_entry *entry, struct cc_worker_birth *born, int *ours)
{
    int ends[2];

    if (!cc_channel_open(ends))
        return false;
    if (!cc_report_open(&entry->report, entry->all->loop, &born->report)) {
        int saved = errno;
        close(ends[0]);
        close(ends[1]);
        errno = saved;
        return false;
    }
    *ours = ends[0];
    born->channel = ends[1];
    return true;
}

enum cc_forked cc_entry_fork(struct cc_worker_entry *entry, struct cc_seat *seat,
                             const struct cc_app_held *held, struct cc_worker_birth *born)
{
    const struct cc_app *app = held->state == NULL ? NULL : held->app;
    char name[16];
    int ours;

    if (!open_ends(entry, born, &ours))
        return CC_FORKED_NOT;
    cc_scoreboard_reset_row(entry->all->board, entry->row, seat->number);
    snprintf(name, sizeof name, "cc-worker-%d", seat->number);
    if (app != NULL && app->before_fork != NULL)
        app->before_fork(held->state);
    pid_t pid = cc_spawn(name);
    if (pid == 0) {
        close(ours);
        born->number = seat->number;
        born->row = entry->row;
        return CC_FORKED_CHILD;
    }
    int saved = errno;
    if (app != NULL && app->after_fork_parent != NULL)
        app->after_fork_parent(held->state);
    close(born->channel);
    close(born->report);
    if (pid < 0) {
        close(ours);
        cc_report_close(&entry->report);
        errno = saved;
        return CC_FORKED_NOT;
    }
    began(entry, seat, pid, ours);
    if (entry->all->paused)
        cc_entry_send(entry, CC_MESSAGE_PAUSE);
    return CC_FORKED_PARENT;
}

/* The pidfd is that process for sure; a pid may be somebody else's once the app has reaped it. */
static void send_signal(const struct cc_worker_entry *entry, int number)
{
    if (entry->exited.fd < 0)
        kill(entry->pid, number);
    else
        syscall(SYS_pidfd_send_signal, entry->exited.fd, number, NULL, 0);
}

void cc_entry_send(const struct cc_worker_entry *entry, enum cc_message_kind kind)
{
    struct cc_message message = {.kind = kind};

    if (kind == CC_MESSAGE_STOP)
        message.status = entry->all->successor;

    /* An app that closes descriptors that it does not know has closed the channel's other end too;
     * to stop, a signal says the same. */
    if (!cc_channel_send(entry->channel, message) && kind == CC_MESSAGE_STOP)
        send_signal(entry, SIGTERM);
}

static int64_t mercy_s(const struct cc_workers *workers)
{
    return workers->mercy_s > 0 ? workers->mercy_s : workers->launch->settings->life.mercy;
}

void cc_entry_leaves(struct cc_worker_entry *entry)
{
    const struct cc_settings *settings = entry->all->launch->settings;
    int64_t delay = entry->all->successor == CC_SUCCESSOR_NONE ? settings->server.stop_delay : 0;

    entry->state = CC_ENTRY_STOPPING;
    entry->kill_at_ns = cc_clock_ns() + (delay + mercy_s(entry->all)) * CC_SECOND_NS;
}

void cc_entry_stop(struct cc_worker_entry *entry)
{
    if (entry->state == CC_ENTRY_FREE || entry->state == CC_ENTRY_STOPPING)
        return;
    cc_entry_leaves(entry);
    cc_entry_send(entry, CC_MESSAGE_STOP);
}

void cc_entry_kill(struct cc_worker_entry *entry)
{
    entry->explained = true;
    entry->kill_at_ns = INT64_MAX;
    send_signal(entry, SIGKILL);
}

/* Says so once. */
static void stop_listening(struct cc_worker_entry *entry)
{
    cc_log(
        CC_LOG_WARN,
        "worker %d (pid %d) has sent %d messages within a second: it is not listened to any more",
        entry->seat->number, (int)entry->pid, entry->heard);
    ev_io_stop(entry->all->loop, &entry->messages);
}

static void note(struct cc_worker_entry *entry, const struct cc_message *message)
{
    switch (message->kind) {
    case CC_MESSAGE_READY:
        cc_replace_ready(entry);
        break;
    case CC_MESSAGE_RELOAD:
        entry->all->reload_asked = true;
        break;
    case CC_MESSAGE_REPLACE:
        if (entry->seat->holder == entry)
            cc_replace_ask(entry->seat, message->status == CC_WORN_OUT ? CC_REPLACE_MAX_REQUESTS
                                                                       : CC_REPLACE_APP);
        break;
    case CC_MESSAGE_LEAVING:
        cc_replace_leaves(entry);
        break;
    default:
        break;
    }
}

static void on_message(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct cc_worker_entry *entry = watcher->data;
    enum cc_received got = CC_RECEIVED;
    struct cc_message message;
    int64_t now = cc_clock_ns();

    (void)events;
    if (now - entry->heard_ns > CC_SECOND_NS) {
        entry->heard_ns = now;
        entry->heard = 0;
    }
    for (int i = 0; i < MESSAGES_A_TURN && got == CC_RECEIVED; i++) {
        got = cc_channel_receive(watcher->fd, &message);
        if (got == CC_RECEIVED)
            note(entry, &message);
        entry->heard += got == CC_RECEIVED;
    }
    if (got == CC_RECEIVED_GONE)
        ev_io_stop(loop, watcher); /* its death is told by the pidfd */
    else if (got == CC_RECEIVED_NONSENSE)
        stop_listening(entry);
    else if (entry->heard > MESSAGES_A_SECOND)
        stop_listening(entry);
}

static void reap(struct cc_worker_entry *entry)
{
    int status = 0;
    pid_t pid = waitpid(entry->pid, &status, WNOHANG);

    /* ECHILD: the app reaped it, or has SIGCHLD ignored: dead all the same. */
    if (pid == entry->pid || (pid < 0 && errno == ECHILD))
        cc_replace_ended(entry, pid < 0 ? W_EXITCODE(CC_EXIT_SYSTEM, 0) : status);
}

static void on_exit_of(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    reap(watcher->data);
}

static void end_mercy(struct cc_worker_entry *entry)
{
    const struct cc_workers *workers = entry->all;
    struct cc_running running = cc_harakiri_oldest(workers->board, entry->row);
    bool runs = running.since_ns != 0;

    cc_log(CC_LOG_WARN, "worker %d (pid %d) is killed: it was to finish %d s ago (%s) and %s%s",
           entry->seat->number, (int)entry->pid, (int)mercy_s(workers),
           workers->mercy_s > 0 ? "reload-mercy" : "worker-reload-mercy",
           runs ? "still runs " : "has not ended", running.what);
    cc_entry_kill(entry);
}

void cc_entry_check(struct cc_worker_entry *entry, int64_t now)
{
    if (entry->state == CC_ENTRY_STOPPING && now >= entry->kill_at_ns)
        end_mercy(entry);
}

/* It is replaced as any other. Only then it is let go on, so that what it has in hand gets an
 * answer; one that stays stopped all the same is killed. */
static void end_frozen(struct cc_worker_entry *entry)
{
    int number = entry->seat->number, pid = (int)entry->pid;

    if (entry->state != CC_ENTRY_STOPPING && entry->seat->holder == entry) {
        cc_replace_ask(entry->seat, CC_REPLACE_FROZEN);
    } else if (entry->state == CC_ENTRY_STOPPING && !entry->woken) {
        entry->woken = true;
        cc_log(CC_LOG_INFO, "worker %d (pid %d) is continued (SIGCONT) to finish what it has",
               number, pid);
        send_signal(entry, SIGCONT);
    } else if (!entry->explained) {
        cc_log(CC_LOG_WARN, "worker %d (pid %d) is killed: it stays stopped", number, pid);
        cc_entry_kill(entry);
    }
}

void cc_entry_look(struct cc_worker_entry *entry, int64_t now)
{
    if (entry->state != CC_ENTRY_FREE && entry->exited.fd < 0)
        reap(entry);
    if (entry->state == CC_ENTRY_FREE)
        return;
    switch (cc_frozen_look(entry->pid, &entry->frozen_ns, now)) {
    case CC_FROZEN_NOT:
        break;
    case CC_FROZEN_SEEN:
        cc_log(CC_LOG_WARN,
               "worker %d (pid %d) is stopped by a signal; unless it goes on within %d s it is "
               "replaced",
               entry->seat->number, (int)entry->pid, CC_FROZEN_PATIENCE_S);
        break;
    case CC_FROZEN_OVER:
        cc_log(CC_LOG_INFO, "worker %d (pid %d) goes on", entry->seat->number, (int)entry->pid);
        break;
    case CC_FROZEN_LONG:
        end_frozen(entry);
        break;
    }
}

int64_t cc_entry_wake(const struct cc_worker_entry *entry)
{
    return entry->state == CC_ENTRY_STOPPING ? entry->kill_at_ns : INT64_MAX;
}
