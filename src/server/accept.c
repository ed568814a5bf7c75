/* From a listening socket to a connection. A worker accepts only what it can run now, so that
 * another worker gets the connection and nobody waits behind a stuck request: the kernel's listen
 * queue is the queue that all workers share. Loop only. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/log.h"
#include "server/listener_shut.h"
#include "server/server_state.h"

/* Seconds without accepting after descriptors or memory ran out. There is no descriptor in reserve
 * to accept and close with: whoever waits in the listen queue may be served by another worker, or
 * by this one a moment later. */
#define RECOVERY_SECONDS 0.2
/* Seconds between two lines that say the same. */
#define SAY_AGAIN_NS (60 * CC_SECOND_NS)
/* Below this average a request is so short that a small queue in front of it harms nobody. */
#define PREFETCH_BELOW_NS INT64_C(500000)

static bool may_accept(const struct cc_server *server)
{
    return (server->emptying || !(cc_server_stopping(server) || server->paused)) &&
           server->n_conns < server->setup->settings->max_connections &&
           !ev_is_active(&server->recovery);
}

static bool has_thread_free(const struct cc_server *server)
{
    const struct cc_crew *crew = &server->crew;
    int limit = crew->n_threads;

    if (atomic_load_explicit(&crew->average_ns, memory_order_relaxed) < PREFETCH_BELOW_NS)
        limit += crew->n_threads;
    return cc_crew_busy(crew) < limit;
}

static bool wants_more(const struct cc_server *server)
{
    return may_accept(server) && has_thread_free(server);
}

bool cc_accept_is_busy(const struct cc_server *server)
{
    return !server->emptying && may_accept(server) && !has_thread_free(server);
}

static void arm(struct cc_server *server, bool on)
{
    atomic_store(&server->accepting, on);
    for (size_t i = 0; i < server->setup->listeners->count; i++) {
        if (on && !server->acceptors[i].empty)
            ev_io_start(server->loop, &server->acceptors[i].io);
        else
            ev_io_stop(server->loop, &server->acceptors[i].io);
    }
    cc_lobby_accepting(&server->lobby, on);
}

static void say_full(struct cc_server *server, const char *why)
{
    int64_t now = cc_clock_ns();

    if (server->full_said_ns > 0 && now - server->full_said_ns < SAY_AGAIN_NS)
        return;
    server->full_said_ns = now;
    cc_log(CC_LOG_ERROR, "worker %d cannot accept connections: %s; it goes on when some close",
           server->setup->worker, why);
}

static void on_recovery(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)loop;
    (void)events;
    cc_accept_update(watcher->data);
}

enum accepted { ACCEPTED, ACCEPTED_NONE, ACCEPT_FAILED };

static enum accepted why_not(struct cc_server *server)
{
    switch (errno) {
    case EAGAIN:
    case EINVAL: /* a unix socket that takes no new connections, and holds none */
        return ACCEPTED_NONE;
    case ECONNABORTED:
    case EINTR:
    case EPROTO:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
        return ACCEPTED; /* whoever it was has left; the next may be there */
    default:
        /* Whatever it is, asking again at once would only spin. */
        say_full(server, strerror(errno));
        ev_now_update(server->loop);
        ev_timer_set(&server->recovery, RECOVERY_SECONDS, 0);
        ev_timer_start(server->loop, &server->recovery);
        return ACCEPT_FAILED;
    }
}

void cc_accept_begin(struct cc_acceptor *acceptor, int fd, const struct sockaddr_storage *peer)
{
    struct cc_server *server = acceptor->server;
    struct cc_conn *conn = cc_conn_new(server, acceptor->listener, fd, peer);

    /* The request is nearly always there already (a uwsgi packet behind nginx): then the descriptor
     * never meets epoll. */
    cc_conn_read(conn);
    if (server->n_conns >= server->setup->settings->max_connections)
        say_full(server, "max-connections is reached");
}

static enum accepted accept_one(struct cc_acceptor *acceptor)
{
    struct cc_server *server = acceptor->server;
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;

    peer.ss_family = AF_UNSPEC;
    int fd = accept4(acceptor->io.fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return why_not(server);
    cc_accept_begin(acceptor, fd, &peer);
    return ACCEPTED;
}

/* Accepts what waits while there is somebody to run it; done when all queues were seen empty. */
static void empty_queues(struct cc_server *server)
{
    while (!server->lobby.empty && wants_more(server))
        server->lobby.empty = !cc_lobby_take(&server->lobby);
    bool all = server->lobby.empty;
    for (size_t i = 0; i < server->setup->listeners->count; i++) {
        struct cc_acceptor *acceptor = &server->acceptors[i];
        while (!acceptor->empty && wants_more(server))
            acceptor->empty = accept_one(acceptor) == ACCEPTED_NONE;
        all = all && acceptor->empty;
    }
    server->emptying = !all;
}

void cc_accept_update(struct cc_server *server)
{
    if (server->emptying)
        empty_queues(server);
    bool accepting = atomic_load_explicit(&server->accepting, memory_order_relaxed);
    bool wanted = wants_more(server);

    if (!wanted && cc_accept_is_busy(server))
        cc_lobby_busy(&server->lobby);
    if (wanted == accepting)
        return;
    arm(server, wanted);
    /* An app thread that ended its request before it could see the change has woken nobody: look
     * again (both sides write first and then read). */
    if (!wanted && wants_more(server))
        arm(server, true);
}

static void on_acceptable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct cc_acceptor *acceptor = watcher->data;

    (void)loop;
    (void)events;
    acceptor->server->hot = accept_one(acceptor) == ACCEPTED ? acceptor : NULL;
    cc_accept_update(acceptor->server);
}

bool cc_accept_again(struct cc_server *server)
{
    struct cc_acceptor *hot = server->hot;

    server->hot = NULL;
    if (hot == NULL || !wants_more(server) || accept_one(hot) != ACCEPTED)
        return false;
    server->hot = hot;
    return true;
}

void cc_accept_empty(struct cc_server *server, bool for_good)
{
    server->emptying = !server->lobby.empty;
    for (size_t i = 0; i < server->setup->listeners->count; i++) {
        struct cc_acceptor *acceptor = &server->acceptors[i];
        acceptor->empty = !for_good || !cc_listener_shut(acceptor->listener);
        server->emptying |= !acceptor->empty;
    }
}

void cc_accept_stop(struct cc_server *server)
{
    ev_timer_stop(server->loop, &server->recovery);
    cc_lobby_end(&server->lobby);
}

void cc_accept_init(struct cc_server *server)
{
    const struct cc_listeners *listeners = server->setup->listeners;

    for (size_t i = 0; i < listeners->count; i++) {
        struct cc_acceptor *acceptor = &server->acceptors[i];
        acceptor->server = server;
        acceptor->listener = &listeners->items[i];
        ev_io_init(&acceptor->io, on_acceptable, listeners->items[i].fd, EV_READ);
        acceptor->io.data = acceptor;
    }
    cc_lobby_begin(&server->lobby, server);
    ev_init(&server->recovery, on_recovery);
    server->recovery.data = server;
    cc_accept_update(server);
}
