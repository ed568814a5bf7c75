/* See server.h. */
#include "server/server.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "server/server_state.h"

bool cc_server_stopping(const struct cc_server *server)
{
    return atomic_load(&server->stopping);
}

bool cc_server_drained(const struct cc_server *server)
{
    return cc_server_stopping(server) && !server->emptying && server->n_conns == 0 &&
           server->ready == NULL && server->checks == NULL;
}

static void on_delay(struct ev_loop *loop, ev_timer *watcher, int events);

static void each_second(struct ev_loop *loop, ev_timer *watcher, int events)
{
    struct cc_server *server = watcher->data;

    (void)events;
    cc_deadlines_tick(&server->deadlines, cc_conn_expired);
    cc_accept_update(server);
    if (server->n_conns == 0)
        ev_timer_stop(loop, watcher);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of the times that an app thread may move a deadline to. */
static int64_t shortest_timeout(const struct cc_server_settings *settings)
{
    /* Without keep-alive no connection waits for it. */
    return settings->keepalive_timeout > 0
               ? least(settings->keepalive_timeout, settings->send_timeout)
               : settings->send_timeout;
}

struct cc_server *cc_server_new(const struct cc_server_setup *setup)
{
    struct cc_server *server = cc_alloc_zeroed(1, sizeof *server);

    server->setup = setup;
    server->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    server->acceptors = cc_alloc_zeroed(setup->listeners->count, sizeof *server->acceptors);
    server->read_buffer = cc_alloc(CC_READ_BUFFER);
    server->ready_end = &server->ready;
    server->checks_end = &server->checks;
    ev_init(&server->delay, on_delay);
    server->delay.data = server;
    cc_link_init(&server->conns);
    cc_deadlines_init(&server->deadlines, shortest_timeout(setup->settings));
    ev_init(&server->tick, each_second);
    server->tick.repeat = 1.;
    server->tick.data = server;
    cc_mailbox_init(server);
    return server;
}

struct ev_loop *cc_server_loop(struct cc_server *server)
{
    return server->loop;
}

void cc_server_run(struct cc_server *server)
{
    cc_crew_run(&server->crew, server);
}

void cc_server_close_idle(struct cc_server *server)
{
    struct cc_link *next;

    for (struct cc_link *link = server->conns.next; link != &server->conns; link = next) {
        struct cc_conn *conn = CC_CONTAINER(link, struct cc_conn, all);
        next = link->next;
        if (atomic_load(&conn->owner) == CC_OWNER_LOOP)
            cc_conn_stop(conn);
    }
}

void cc_server_pause(struct cc_server *server, bool on)
{
    server->paused = on;
    cc_accept_update(server);
}

static void begin_stop(struct cc_server *server, enum cc_successor successor)
{
    if (atomic_exchange(&server->stopping, true))
        return;
    ev_timer_stop(server->loop, &server->delay);
    server->hot = NULL;
    if (successor != CC_SUCCESSOR_WORKER)
        cc_accept_empty(server, successor == CC_SUCCESSOR_NONE);
    cc_accept_update(server);
    cc_server_close_idle(server);
    /* Closed connections may lie in the mailbox without a wake-up: they count until they are taken.
     */
    ev_async_send(server->loop, &server->mail);
}

static void on_delay(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)events;
    begin_stop(watcher->data, CC_SUCCESSOR_NONE);
}

void cc_server_stop(struct cc_server *server, enum cc_successor successor)
{
    int64_t delay = server->setup->settings->stop_delay;

    if (successor != CC_SUCCESSOR_NONE || delay == 0) {
        server->leaving |= successor == CC_SUCCESSOR_NONE;
        begin_stop(server, successor);
        return;
    }
    if (server->leaving || cc_server_stopping(server))
        return;
    server->leaving = true;
    ev_now_update(server->loop);
    ev_timer_set(&server->delay, (double)delay, 0);
    ev_timer_start(server->loop, &server->delay);
}

void cc_server_free(struct cc_server *server)
{
    cc_accept_stop(server);
    cc_exchange_free_all(server);
    ev_loop_destroy(server->loop);
    free(server->acceptors);
    free(server->read_buffer);
    free(server);
}
