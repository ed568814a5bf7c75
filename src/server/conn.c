/* See conn.h: a connection's life, without the reading (conn_read.c) and sending (conn_write.c). */
#include "server/conn.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "base/alloc.h"
#include "server/conn_write.h"
#include "server/server_state.h"

/* Between our end of a connection and its close: seconds between two looks, and how many there are
 * at most while the peer still sends or reads. */
#define LINGER_SECONDS 2
#define LINGER_LOOKS   15
/* Bytes between two looks that are a body under way; a few are a client that holds us up. */
#define LINGER_WORTH ((size_t)4096)
/* When the server stops: seconds in which a kept connection may ask once more, and in which a
 * request that has begun has to go on. */
#define STOP_IDLE_SECONDS 1
#define STOP_HALF_SECONDS 2

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

static bool has_unread(const struct cc_conn *conn)
{
    char byte;

    return recv(conn->io.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool cc_conn_may_close(const struct cc_conn *conn)
{
    if (conn->gone || conn->io.fd < 0)
        return true;
    return conn->session.last && !conn->linger && !cc_conn_pending(conn) && conn->input.len == 0 &&
           !has_unread(conn);
}

/* A close with unread bytes resets the connection, and so do bytes that come after a close; either
 * may destroy what we sent last. So we say that we end, and read until the peer does. */
static void linger(struct cc_conn *conn)
{
    conn->lingering = true;
    conn->linger_unsent = INT_MAX;
    cc_buf_clear(&conn->input);
    shutdown(conn->io.fd, SHUT_WR);
    cc_deadlines_set(&conn->server->deadlines, &conn->due, LINGER_SECONDS);
    cc_conn_watch(conn, EV_READ);
}

static void discard_input(struct cc_conn *conn)
{
    ssize_t got = recv(conn->io.fd, conn->server->read_buffer, CC_READ_BUFFER, MSG_DONTWAIT);

    conn->linger_heard += got > 0 ? (size_t)got : 0;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return; /* level-triggered: we are called again */
    cc_conn_close(conn);
}

/* The deadline of one that lingers: does it make sense to go on? While the peer still sends, or
 * still takes what the kernel holds for it, yes; but not for ever, and a stop does not wait. */
static bool lingers_on(struct cc_conn *conn)
{
    int unsent = 0, before = conn->linger_unsent;
    bool heard = conn->linger_heard >= LINGER_WORTH;

    if (ioctl(conn->io.fd, SIOCOUTQ, &unsent) != 0)
        unsent = 0;
    conn->linger_heard = 0;
    conn->linger_unsent = unsent;
    if (cc_server_stopping(conn->server) || ++conn->linger_looks >= LINGER_LOOKS)
        return false;
    return heard || (unsent > 0 && unsent < before);
}

/* What was sent is sent. */
static void sent_all(struct cc_conn *conn)
{
    struct cc_server *server = conn->server;

    if (!conn->keep) {
        if (cc_conn_may_close(conn))
            cc_conn_close(conn);
        else
            linger(conn);
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
    cc_deadlines_set(&server->deadlines, &conn->due, server->setup->settings->keepalive_timeout);
    if (cc_server_stopping(server))
        cc_conn_stop(conn);
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
    if (conn->lingering && lingers_on(conn))
        cc_deadlines_set(&conn->server->deadlines, &conn->due, LINGER_SECONDS);
    else if (conn->lingering || cc_conn_pending(conn))
        cc_conn_close(conn);
    else if (conn->session.phase != CC_PHASE_IDLE)
        cc_conn_refuse(conn, 408, "the request did not come in time");
    else if (has_unread(conn))
        cc_conn_read(conn); /* a request that came just now */
    else
        linger(conn);
}

void cc_conn_stop(struct cc_conn *conn)
{
    /* A client may be sending a request on a kept connection just now, and could not know whether
     * it was begun. So it gets a moment, and is told in the answer that the connection ends. */
    bool kept = conn->asked && conn->session.phase == CC_PHASE_IDLE;

    if (conn->stopped || conn->lingering || cc_conn_pending(conn))
        return;
    conn->stopped = true;
    cc_deadlines_set(&conn->server->deadlines, &conn->due,
                     kept ? STOP_IDLE_SECONDS : STOP_HALF_SECONDS);
}
