/* From a listening socket to a connection. A worker accepts only what it can run now, so that
 * another worker gets the connection and nobody waits behind a stuck request: the kernel's listen
 * queue is the queue that all workers share. Loop only. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log/log.h"
#include "server/server_state.h"

/* Seconds without accepting after descriptors or memory ran out. */
#define PAUSE_AFTER_FAILURE 0.2
/* Below this average a request is so short that a small queue in front of it harms nobody. */
#define PREFETCH_BELOW_NS INT64_C(500000)

static bool wants_more(const struct cc_server *server)
{
    const struct cc_crew *crew = &server->crew;
    int limit = crew->n_threads;

    if (cc_server_stopping(server) || server->n_conns >= server->setup->settings->max_connections ||
        ev_now(server->loop) < server->accept_pause_until)
        return false;
    if (atomic_load_explicit(&crew->average_ns, memory_order_relaxed) < PREFETCH_BELOW_NS)
        limit += crew->n_threads;
    return cc_crew_busy(crew) < limit;
}

static void arm(struct cc_server *server, bool on)
{
    atomic_store(&server->accepting, on);
    for (size_t i = 0; i < server->setup->listeners->count; i++) {
        if (on)
            ev_io_start(server->loop, &server->acceptors[i].io);
        else
            ev_io_stop(server->loop, &server->acceptors[i].io);
    }
}

void cc_accept_update(struct cc_server *server)
{
    bool accepting = atomic_load_explicit(&server->accepting, memory_order_relaxed);
    bool wanted = wants_more(server);

    if (wanted == accepting)
        return;
    arm(server, wanted);
    /* An app thread that ended its request before it could see the change has woken nobody: look
     * again (both sides write first and then read). */
    if (!wanted && wants_more(server))
        arm(server, true);
}

static void say_full(struct cc_server *server, const char *why)
{
    if (!server->full_said)
        cc_log(CC_LOG_ERROR, "worker %d cannot accept connections: %s; it goes on when some close",
               server->setup->worker, why);
    server->full_said = true;
    server->accept_pause_until = ev_now(server->loop) + PAUSE_AFTER_FAILURE;
    /* It ends the pause, and without a connection nothing else would wake the loop. */
    if (!ev_is_active(&server->tick))
        ev_timer_again(server->loop, &server->tick);
}

/* false: nothing to accept. */
static bool accept_one(struct cc_acceptor *acceptor)
{
    struct cc_server *server = acceptor->server;
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;

    peer.ss_family = AF_UNSPEC;
    int fd = accept4(acceptor->io.fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            say_full(server, strerror(errno));
        return false;
    }
    struct cc_conn *conn = cc_conn_new(server, acceptor->listener, fd, &peer);
    /* The request is nearly always there already (a uwsgi packet behind nginx): then the descriptor
     * never meets epoll. */
    cc_conn_read(conn);
    if (server->n_conns >= server->setup->settings->max_connections)
        say_full(server, "max-connections is reached");
    return true;
}

static void on_acceptable(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct cc_acceptor *acceptor = watcher->data;

    (void)loop;
    (void)events;
    acceptor->server->hot = accept_one(acceptor) ? acceptor : NULL;
    cc_accept_update(acceptor->server);
}

bool cc_accept_again(struct cc_server *server)
{
    struct cc_acceptor *hot = server->hot;

    server->hot = NULL;
    if (hot == NULL || !wants_more(server) || !accept_one(hot))
        return false;
    server->hot = hot;
    return true;
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
    cc_accept_update(server);
}
