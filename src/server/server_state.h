/* What the files of this room share of a server. The loop is held by one thread at a time (crew.h);
 * "loop" below means: only by its holder. */
#ifndef CC_SERVER_SERVER_STATE_H
#define CC_SERVER_SERVER_STATE_H

#include <ev.h>
#include <stdatomic.h>

#include "server/crew.h"
#include "server/deadlines.h"
#include "server/exchange.h"
#include "server/lobby.h"
#include "server/server.h"

#define CC_READ_BUFFER ((size_t)65536)

/* One listening socket as this worker sees it. Loop. */
struct cc_acceptor {
    ev_io io;
    struct cc_server *server;
    const struct cc_listener *listener;
    bool empty; /* the listen queue was, since a stop for good began */
};

struct cc_server {
    const struct cc_server_setup *setup; /* constant */
    struct ev_loop *loop;                /* loop */
    struct cc_acceptor *acceptors;       /* loop; one a listener */
    struct cc_acceptor *hot;             /* loop; gave a connection just now */
    atomic_bool accepting;               /* set by the loop: the acceptors' watchers are armed */
    bool leaving;                  /* loop; a stop for good has been asked for: health says so */
    bool paused;                   /* loop; cc_server_pause() */
    bool emptying;                 /* loop; stopping, and the listen queues are not empty */
    struct cc_lobby_keeper lobby;  /* loop */
    ev_timer delay;                /* loop; from the order to stop to the stop */
    ev_timer recovery;             /* loop; runs after descriptors ran out */
    int64_t full_said_ns;          /* loop; said that descriptors or connections ran out */
    struct cc_link conns;          /* loop */
    int64_t n_conns;               /* loop */
    struct cc_deadlines deadlines; /* loop */
    ev_timer tick;                 /* loop; each second while there are connections */
    ev_async mail;                 /* sent by any thread */
    _Atomic(struct cc_conn *) mailbox;        /* pushed by any thread, taken by the loop */
    char *read_buffer;                        /* loop; CC_READ_BUFFER bytes */
    struct cc_exchange *free_exchanges;       /* loop */
    int n_free_exchanges;                     /* loop */
    struct cc_exchange *ready, **ready_end;   /* loop; whole requests that no thread has yet */
    struct cc_exchange *checks, **checks_end; /* loop; requests for the health path */
    atomic_bool stopping;                     /* set by the loop, read by all */
    _Atomic int64_t answered;                 /* by all threads, since the start */
    struct cc_crew crew;
};

bool cc_server_stopping(const struct cc_server *server);
/* Closes what is idle, once the server is stopping. Loop. */
void cc_server_close_idle(struct cc_server *server);
/* Stopping, and nothing is left to do. Loop. */
bool cc_server_drained(const struct cc_server *server);

/* accept.c; loop. */
void cc_accept_init(struct cc_server *server);
/* Arms or disarms the listening sockets as load and limits ask. In a stop for good it accepts what
 * waits in the listen queues, so that requests may be ready after it. */
void cc_accept_update(struct cc_server *server);
/* A stop: what waits in the lobby is accepted like any other, before the server counts as drained.
 * In one for good nobody will accept after us: so is what waits in the listen queues, and no new
 * connections are let in there. */
void cc_accept_empty(struct cc_server *server, bool for_good);
void cc_accept_stop(struct cc_server *server);
/* Takes over a connection that was accepted there. */
void cc_accept_begin(struct cc_acceptor *acceptor, int fd, const struct sockaddr_storage *peer);
/* Only for want of a free thread it does not accept. */
bool cc_accept_is_busy(const struct cc_server *server);
/* Accepts one more from the socket that was hot; false when there is none. */
bool cc_accept_again(struct cc_server *server);

/* mailbox.c: gives a connection back to the loop. Any thread. wake: the loop must look now. */
void cc_mailbox_push(struct cc_server *server, struct cc_conn *conn, bool wake);
/* Takes what lies there, with or without a wake-up: connections that are closed already count as
 * open until then. Loop. */
void cc_mailbox_take(struct cc_server *server);
void cc_mailbox_init(struct cc_server *server);

#endif
