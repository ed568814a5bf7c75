/* See generation.h. */
#include "process/generation.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "log/log.h"
#include "process/channel.h"
#include "process/idle.h"
#include "process/replace.h"
#include "process/stacks.h"
#include "process/worker.h"
#include "process/worker_entry.h"
#include "process/workers.h"
#include "system/procname.h"
#include "system/surroundings.h"

/* Owned by the generation process's one thread of ours (the app may have started others). */
struct generation {
    const struct cc_generation_setup *setup;
    struct ev_loop *loop;
    pid_t master;
    struct cc_app_held held;
    struct cc_workers workers;
    struct cc_lobby lobby; /* its workers' */
    ev_io messages;        /* of the master */
    ev_signal term;
    ev_timer wake;
};

static void reopen_log(struct cc_workers *workers)
{
    struct cc_err err;

    if (!cc_surroundings_reopen_log(workers->launch->settings, &err))
        cc_log(CC_LOG_ERROR, "%s", err.text);
    for (int i = 0; i < workers->n_entries; i++)
        if (workers->entries[i].state != CC_ENTRY_FREE)
            cc_entry_send(&workers->entries[i], CC_MESSAGE_LOG_REOPEN);
}

static void obey(struct cc_workers *workers, const struct cc_message *message)
{
    switch (message->kind) {
    case CC_MESSAGE_STOP:
        workers->mercy_s = message->seconds;
        cc_workers_stop(workers, (enum cc_successor)message->status);
        break;
    case CC_MESSAGE_STOP_NOW:
        cc_workers_kill(workers);
        break;
    case CC_MESSAGE_PAUSE:
    case CC_MESSAGE_RESUME:
        cc_workers_pause(workers, message->kind == CC_MESSAGE_PAUSE);
        break;
    case CC_MESSAGE_MORE:
    case CC_MESSAGE_FEWER:
        cc_cheaper_by_hand(workers, message->kind == CC_MESSAGE_MORE ? 1 : -1);
        break;
    case CC_MESSAGE_LOG_REOPEN:
        reopen_log(workers);
        break;
    case CC_MESSAGE_CHEAP:
        cc_idle_begin(workers);
        break;
    case CC_MESSAGE_RECYCLE:
        cc_replace_all(workers, CC_REPLACE_RECYCLE);
        break;
    case CC_MESSAGE_CHAIN:
        cc_replace_all(workers, CC_REPLACE_CHAIN);
        break;
    default:
        break;
    }
}

static void on_message(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct generation *generation = watcher->data;
    struct cc_message message;
    enum cc_received got;

    (void)events;
    while ((got = cc_channel_receive(watcher->fd, &message)) == CC_RECEIVED)
        obey(&generation->workers, &message);
    if (got == CC_RECEIVED_GONE) {
        ev_io_stop(loop, watcher);
        cc_workers_stop(&generation->workers, CC_SUCCESSOR_GENERATION);
    }
}

static void on_term(struct ev_loop *loop, ev_signal *watcher, int events)
{
    struct generation *generation = watcher->data;

    (void)loop;
    (void)events;
    cc_workers_stop(&generation->workers, CC_SUCCESSOR_GENERATION);
}

static void on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
    struct generation *generation = watcher->data;

    (void)loop;
    (void)events;
    cc_workers_check(&generation->workers);
}

static void begin(struct generation *generation)
{
    const struct cc_generation_setup *setup = generation->setup;

    generation->loop = ev_loop_new(EVFLAG_NOENV);
    cc_workers_init(&generation->workers, setup->launch, setup->board, generation->loop,
                    setup->channel);
    generation->workers.must_load = setup->must_load;
    if (!cc_lobby_open(&generation->lobby, setup->launch->settings->server.health_path != NULL))
        cc_log(CC_LOG_WARN, "health-path is not answered while all threads are busy: %s",
               strerror(errno));
    ev_io_init(&generation->messages, on_message, setup->channel, EV_READ);
    ev_signal_init(&generation->term, on_term, SIGTERM);
    ev_timer_init(&generation->wake, on_wake, 0, 0);
    generation->messages.data = generation->term.data = generation->wake.data = generation;
    ev_io_start(generation->loop, &generation->messages);
    ev_signal_start(generation->loop, &generation->term);
    cc_channel_send(setup->channel, (struct cc_message){.kind = CC_MESSAGE_LOADED});
    cc_workers_begin(&generation->workers);
}

/* In the generation at its end, and in a worker, which has no use for any of it. */
static void clear(struct generation *generation)
{
    cc_workers_clear(&generation->workers);
    ev_signal_stop(generation->loop, &generation->term);
    ev_loop_destroy(generation->loop);
    close(generation->setup->channel);
}

static int become_worker(struct generation *generation, const struct cc_worker_birth *born)
{
    const struct cc_generation_setup *setup = generation->setup;
    struct cc_worker_setup worker = {
        .launch = setup->launch,
        .board = setup->board,
        .number = born->number,
        .row = born->row,
        .lobby = &generation->lobby,
        .channel = born->channel,
        .report = born->report,
        .master = generation->master,
        .must_load = setup->launch->settings->process.need_app || born->replaces ||
                     (setup->must_load && !generation->workers.served),
    };

    clear(generation);
    int code = cc_worker_run(&worker, &generation->held);
    close(born->channel);
    return code;
}

/* Waits for the next event, and no longer than until something is due. */
static void wait_for_event(struct generation *generation)
{
    double seconds = cc_workers_wake_in(&generation->workers);

    ev_timer_stop(generation->loop, &generation->wake);
    if (seconds >= 0) {
        ev_now_update(generation->loop);
        ev_timer_set(&generation->wake, seconds, 0);
        ev_timer_start(generation->loop, &generation->wake);
    }
    ev_run(generation->loop, EVRUN_ONCE);
}

/* Forks happen here, between two runs of the loop and not inside its callbacks, so that the child
 * can drop the loop. */
static int keep_workers(struct generation *generation)
{
    struct cc_workers *workers = &generation->workers;
    struct cc_worker_birth born;

    for (;;) {
        if (cc_workers_start_due(workers, &generation->held, &born))
            return become_worker(generation, &born);
        if (workers->stopping && cc_workers_alive(workers) == 0)
            break;
        wait_for_event(generation);
    }
    int code = workers->app_failed ? CC_EXIT_NO_APP : CC_EXIT_OK;
    clear(generation);
    cc_app_unload(&generation->held);
    return code;
}

int cc_generation_rows(const struct cc_settings *settings)
{
    return cc_workers_rows((int)settings->process.processes);
}

int cc_generation_run(const struct cc_generation_setup *setup)
{
    const struct cc_process_settings *process = &setup->launch->settings->process;
    struct generation generation = {.setup = setup, .master = getppid()};
    const struct cc_app_place place = {.must = setup->must_load, .master = generation.master};
    struct cc_err err;

    cc_scoreboard_close_file(setup->board);
    cc_procname_set(&setup->launch->settings->names, CC_ROLE_GENERATION, setup->number);
    if (!cc_surroundings_env(&process->env, &err) ||
        !cc_surroundings_chdir(process->chdir, false, &err)) {
        cc_log(CC_LOG_ERROR, "%s", err.text);
        close(setup->channel);
        return CC_EXIT_SYSTEM;
    }
    /* Should the app crash while it is imported. Nobody collects that report, so it goes to the log
     * as it is written. */
    cc_stacks_arm(STDERR_FILENO, &generation.held);
    if (!process->lazy_apps && !cc_app_load(&generation.held, setup->launch, place) &&
        setup->must_load) {
        close(setup->channel);
        return CC_EXIT_NO_APP;
    }
    begin(&generation);
    return keep_workers(&generation);
}
