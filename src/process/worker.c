/* See worker.h. */
#include "process/worker.h"

#include <ev.h>
#include <signal.h>
#include <unistd.h>

#include "log/log.h"
#include "process/asking.h"
#include "process/channel.h"
#include "process/stacks.h"
#include "server/server.h"
#include "system/procname.h"
#include "system/surroundings.h"

/* Owned by the worker's main thread; the callbacks run on whichever thread holds the loop. */
struct worker {
    const struct cc_worker_setup *setup;
    struct cc_server *server;
    ev_io channel;
    ev_signal term;
};

static void on_channel(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct worker *worker = watcher->data;
    struct cc_message message;
    enum cc_received got;

    (void)events;
    while ((got = cc_channel_receive(watcher->fd, &message)) == CC_RECEIVED)
        if (message.kind == CC_MESSAGE_STOP)
            cc_server_stop(worker->server, (enum cc_successor)message.status);
        else if (message.kind == CC_MESSAGE_PAUSE || message.kind == CC_MESSAGE_RESUME)
            cc_server_pause(worker->server, message.kind == CC_MESSAGE_PAUSE);
        else if (message.kind == CC_MESSAGE_LOG_REOPEN)
            /* The generation has said what is wrong with it, if anything is. */
            cc_surroundings_reopen_log(worker->setup->launch->settings, NULL);
    if (got == CC_RECEIVED_GONE) {
        /* The kernel kills us with our parent; where it does not, end in good order. */
        ev_io_stop(loop, watcher);
        cc_server_stop(worker->server, CC_SUCCESSOR_WORKER);
    }
}

static void on_term(struct ev_loop *loop, ev_signal *watcher, int events)
{
    struct worker *worker = watcher->data;

    (void)loop;
    (void)events;
    cc_log(CC_LOG_INFO, "worker %d got SIGTERM: it finishes its requests and ends",
           worker->setup->number);
    cc_channel_send(worker->setup->channel, (struct cc_message){.kind = CC_MESSAGE_LEAVING});
    cc_server_stop(worker->server, CC_SUCCESSOR_WORKER);
}

/* max-requests are answered. Any thread. */
static void on_worn_out(void *data)
{
    const struct worker *worker = data;

    cc_channel_send(worker->setup->channel,
                    (struct cc_message){.kind = CC_MESSAGE_REPLACE, .status = CC_WORN_OUT});
}

static void serve(struct worker *worker)
{
    const struct cc_worker_setup *setup = worker->setup;
    struct ev_loop *loop = cc_server_loop(worker->server);

    ev_io_init(&worker->channel, on_channel, setup->channel, EV_READ);
    worker->channel.data = worker;
    ev_io_start(loop, &worker->channel);
    ev_signal_init(&worker->term, on_term, SIGTERM);
    worker->term.data = worker;
    ev_signal_start(loop, &worker->term);

    cc_log(CC_LOG_INFO, "worker %d is ready", setup->number);
    cc_asking_set(setup->channel);
    cc_channel_send(setup->channel, (struct cc_message){.kind = CC_MESSAGE_READY,
                                                        .worker = setup->row,
                                                        .pid = (int32_t)getpid()});
    cc_server_run(worker->server);
    cc_asking_set(-1);
    ev_signal_stop(loop, &worker->term);
    ev_io_stop(loop, &worker->channel);
}

/* After the fork, or the lazy load. false: *code is what the process ends with. */
static bool make_app_ready(const struct cc_worker_setup *setup, struct cc_app_held *held, int *code)
{
    const struct cc_app_place place = {
        .must = setup->must_load, .worker = setup->number, .master = setup->master};
    struct cc_err err = {.text = ""};

    if (setup->launch->settings->process.lazy_apps) {
        *code = CC_EXIT_NO_APP;
        return cc_app_load(held, setup->launch, place) || !setup->must_load;
    }
    *code = CC_EXIT_SYSTEM;
    if (held->state == NULL || held->app->after_fork_child == NULL ||
        held->app->after_fork_child(held->state, setup->number, &err))
        return true;
    cc_log(CC_LOG_ERROR, "worker %d: the app does not work after the fork: %s", setup->number,
           err.text);
    return false;
}

/* Not all workers at the same time. */
static int64_t max_requests_of(const struct cc_worker_setup *setup)
{
    const struct cc_life_settings *life = &setup->launch->settings->life;

    if (life->max_requests == 0)
        return 0;
    return life->max_requests + (setup->number - 1) * life->max_requests_delta;
}

int cc_worker_run(const struct cc_worker_setup *setup, struct cc_app_held *held)
{
    const struct cc_settings *settings = setup->launch->settings;
    struct worker worker = {.setup = setup};
    int code;

    cc_procname_set(&settings->names, CC_ROLE_WORKER, setup->number);
    cc_stacks_arm(setup->report, held);
    if (!make_app_ready(setup, held, &code)) {
        cc_app_unload(held);
        return code;
    }
    struct cc_server_setup server = {
        .settings = &settings->server,
        .listeners = setup->launch->listeners,
        .app = held->app,
        .app_state = held->state,
        .board = setup->board,
        .worker = setup->number,
        .row = setup->row,
        .lobby = setup->lobby,
        .access_log = !settings->log.disable_logging,
        .max_requests = max_requests_of(setup),
        .worn_out = on_worn_out,
        .data = &worker,
    };
    worker.server = cc_server_new(&server);
    if (worker.server == NULL) {
        cc_log(CC_LOG_ERROR, "worker %d: its server cannot be made", setup->number);
        cc_app_unload(held);
        return CC_EXIT_SYSTEM;
    }
    serve(&worker);
    cc_server_free(worker.server);
    cc_app_unload(held);
    return CC_EXIT_OK;
}
