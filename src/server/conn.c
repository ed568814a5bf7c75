/* See conn.h: a connection's life, without the reading (conn_read.c) and sending (conn_write.c). */
#include "server/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "base/alloc.h"
#include "server/conn_write.h"
#include "server/server_state.h"

/* Seconds that a peer gets to read our last words before the socket is closed under it. */
#define LINGER_SECONDS 2

static void on_event(struct ev_loop *loop, ev_io *watcher, int events);

static void name_peer(struct cc_conn *conn, const struct sockaddr_storage *peer)
{
    const struct cc_listener *listener = conn->listener;

    if (peer->ss_family == AF_INET || peer->ss_family == AF_INET6) {
        cc_address_host_text(peer, conn->remote_addr, sizeof conn->remote_addr);
        snprintf(conn->remote_port, sizeof conn->remote_port, "%u",
                 (unsigned)cc_address_port(peer) & 0xffff);
    }
    conn->peer.remote_addr = cc_span_of(conn->remote_addr);
    conn->peer.remote_port = cc_span_of(conn->remote_port);
    conn->peer.server_name = cc_span_of(listener->server_name);
    conn->peer.server_port = cc_span_of(listener->server_port);
    conn->session.peer = &conn->peer;
}

struct cc_conn *cc_conn_new(struct cc_server *server, const struct cc_listener *listener, int fd,
                            const struct sockaddr_storage *peer)
{
    struct cc_conn *conn = cc_alloc_zeroed(1, sizeof *conn);

    conn->server = server;
    conn->listener = listener;
    conn->file.fd = -1;
    conn->keep = true;
    ev_io_init(&conn->io, on_event, fd, EV_READ);
    conn->io.data = conn;
    name_peer(conn, peer);
    cc_conn_session_init(conn);
    conn->state = listener->protocol->open(&conn->session, listener->protocol_settings);
    cc_link_add(&server->conns, &conn->all);
    cc_due_init(&conn->due);
    server->n_conns++;
    cc_deadlines_set(&server->deadlines, &conn->due, server->setup->settings->head_timeout);
    if (!ev_is_active(&server->tick))
        ev_timer_again(server->loop, &server->tick);
    return conn;
}

void cc_conn_close(struct cc_conn *conn)
{
    struct cc_server *server = conn->server;

    cc_conn_watch(conn, 0);
    cc_deadlines_remove(&conn->due);
    cc_link_remove(&conn->all);
    server->n_conns--;
    if (conn->exchange != NULL)
        cc_exchange_free(server, conn->exchange, true);
    conn->listener->protocol->close(conn->state);
    if (conn->io.fd >= 0)
        close(conn->io.fd);
    if (conn->file.fd >= 0)
        close(conn->file.fd);
    cc_buf_clear(&conn->input);
    cc_buf_clear(&conn->output.buf);
    cc_buf_clear(&conn->tail.buf);
    free(conn);
}

void cc_conn_watch(struct cc_conn *conn, int events)
{
    if (ev_is_active(&conn->io)) {
        if ((conn->io.events & (EV_READ | EV_WRITE)) == events)
            return;
        ev_io_stop(conn->server->loop, &conn->io);
    }
    if (events == 0)
        return;
    ev_io_set(&conn->io, conn->io.fd, events);
    ev_io_start(conn->server->loop, &conn->io);
    conn->armed_once = true;
}

/* A close with unread bytes would reset the connection and could destroy what we sent last. */
static void linger(struct cc_conn *conn)
{
    conn->lingering = true;
    shutdown(conn->io.fd, SHUT_WR);
    cc_deadlines_set(&conn->server->deadlines, &conn->due, LINGER_SECONDS);
    cc_conn_watch(conn, EV_READ);
}

static void discard_input(struct cc_conn *conn)
{
    ssize_t got = recv(conn->io.fd, conn->server->read_buffer, CC_READ_BUFFER, MSG_DONTWAIT);

    if (got > 0)
        return; /* the deadline bounds how long; level-triggered: we are called again */
    cc_conn_close(conn);
}

/* What was sent is sent. */
static void sent_all(struct cc_conn *conn)
{
    struct cc_server *server = conn->server;

    if (!conn->keep) {
        if (conn->linger || conn->input.len > 0)
            linger(conn);
        else
            cc_conn_close(conn);
        return;
    }
    if (conn->input.len > 0) {
        cc_conn_feed_input(conn);
        return;
    }
    if (conn->session.phase != CC_PHASE_IDLE) {
        /* Only an interim answer was under way; the request's own deadline runs on. */
        cc_conn_watch(conn, EV_READ);
        return;
    }
    if (cc_server_stopping(server)) {
        cc_conn_stop(conn);
        return;
    }
    cc_deadlines_set(&server->deadlines, &conn->due, server->setup->settings->keepalive_timeout);
    cc_conn_watch(conn, EV_READ);
}

void cc_conn_continue(struct cc_conn *conn)
{
    if (conn->gone) {
        cc_conn_close(conn);
        return;
    }
    if (cc_conn_pending(conn)) {
        cc_deadlines_set(&conn->server->deadlines, &conn->due,
                         conn->server->setup->settings->send_timeout);
        cc_conn_watch(conn, EV_WRITE);
        return;
    }
    sent_all(conn);
}

static void on_event(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct cc_conn *conn = watcher->data;
    int owner = CC_OWNER_APP;

    (void)loop;
    (void)events;
    /* Bytes (or an end) while the app has it: stay silent until it comes back through the mailbox.
     */
    if (atomic_load_explicit(&conn->owner, memory_order_acquire) != CC_OWNER_LOOP &&
        (atomic_compare_exchange_strong(&conn->owner, &owner, CC_OWNER_APP_POKED) ||
         owner == CC_OWNER_APP_POKED)) {
        cc_conn_watch(conn, 0);
        return;
    }
    if (conn->lingering) {
        discard_input(conn);
    } else if (cc_conn_pending(conn)) {
        cc_conn_flush(conn);
        cc_conn_continue(conn);
    } else {
        cc_conn_read(conn);
    }
}

void cc_conn_expired(struct cc_due *due)
{
    struct cc_conn *conn = CC_CONTAINER(due, struct cc_conn, due);

    /* The app has it; whoever ends the exchange, or the loop after it, sets the next one. */
    if (atomic_load_explicit(&conn->owner, memory_order_acquire) != CC_OWNER_LOOP) {
        cc_deadlines_set(&conn->server->deadlines, &conn->due,
                         conn->server->setup->settings->keepalive_timeout);
        return;
    }
    if (conn->lingering || cc_conn_pending(conn) || conn->session.phase == CC_PHASE_IDLE)
        cc_conn_close(conn);
    else
        cc_conn_refuse(conn, 408, "the request did not come in time");
}

void cc_conn_stop(struct cc_conn *conn)
{
    char byte;

    if (conn->lingering || cc_conn_pending(conn))
        return;
    if (conn->session.phase != CC_PHASE_IDLE || !conn->asked)
        /* Half a request, or a client that has only just come: a moment to complete it. It cannot
         * know that it may ask again, as one whose kept connection is closed does. */
        cc_deadlines_set(&conn->server->deadlines, &conn->due, 2);
    else if (recv(conn->io.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
        /* A request that came just now was accepted: it is answered. */
        cc_conn_read(conn);
    else
        cc_conn_close(conn);
}
