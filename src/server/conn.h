/* A connection: a socket, a protocol's state, and at most one exchange.
 *
 * It has one owner at a time. CC_OWNER_LOOP: whoever holds the loop (crew.h) may touch everything.
 * CC_OWNER_APP: the exchange is queued or its app thread runs it; that thread alone may touch
 * state, output, file and the exchange; the loop keeps the watcher, the links and the deadline. The
 * watcher stays armed meanwhile (the request's bytes are read, so it is silent); when bytes come
 * all the same, the loop marks CC_OWNER_APP_POKED and stops the watcher, and whoever ends the
 * exchange gives the connection back through the mailbox. */
#ifndef CC_SERVER_CONN_H
#define CC_SERVER_CONN_H

#include <ev.h>
#include <netinet/in.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/list.h"
#include "plugin/protocol.h"
#include "server/deadlines.h"
#include "server/listener.h"

struct cc_server;
struct cc_exchange;

enum cc_owner { CC_OWNER_LOOP, CC_OWNER_APP, CC_OWNER_APP_POKED };

/* Bytes on their way out; those before done are sent. */
struct cc_outgoing {
    struct cc_buf buf;
    size_t done;
};

/* Part of a file that is to be sent between output and tail. */
struct cc_conn_file {
    int fd; /* owned; -1: none */
    int64_t offset, left;
};

struct cc_conn {
    struct cc_session session; /* first: a plugin's session pointer is the connection's */
    struct cc_server *server;
    const struct cc_listener *listener;
    void *state;        /* the protocol's */
    ev_io io;           /* io.fd is the socket; -1 once closed */
    struct cc_link all; /* in server->conns */
    struct cc_due due;
    _Atomic int owner; /* enum cc_owner */
    struct cc_exchange *exchange;
    struct cc_conn *mail_next;
    struct cc_buf input;       /* came after the request that is running */
    struct cc_outgoing output; /* to be sent first */
    struct cc_conn_file file;
    struct cc_outgoing tail; /* to be sent after the file */
    bool asked;              /* a whole request has come on it */
    bool keep;               /* the connection goes on after what is being sent */
    bool gone;               /* the peer is: nothing can be sent */
    bool linger;             /* after the last byte wait for the peer to close (RFC 9112 9.6) */
    bool lingering;          /* doing so */
    uint8_t linger_looks;    /* how often its deadline came */
    size_t linger_heard;     /* bytes that came since the last look */
    int linger_unsent;       /* bytes that the kernel still held at the last look */
    bool stopped;            /* the server stops, and it has been given its last moment */
    bool armed_once;         /* the descriptor has been in epoll; fixed while the app owns it */
    struct cc_peer peer;
    char remote_addr[INET6_ADDRSTRLEN], remote_port[6];
};

/* Takes over an accepted, non-blocking socket. Loop only, as are all of these. */
struct cc_conn *cc_conn_new(struct cc_server *server, const struct cc_listener *listener, int fd,
                            const struct sockaddr_storage *peer);
/* Closes and frees it now. The loop must own it. What is on its way to the peer may be lost if that
 * still sends: see cc_conn_may_close(). */
void cc_conn_close(struct cc_conn *conn);
/* Nothing is left to send, and by what the peer said and by what is in the socket it sends nothing
 * more: closing cannot reset the connection. For its owner, on any thread. */
bool cc_conn_may_close(const struct cc_conn *conn);
/* Waits for these events (0: none). */
void cc_conn_watch(struct cc_conn *conn, int events);
/* The exchange is over and the loop owns the connection again: sends what is left, then reads on
 * or closes. */
void cc_conn_continue(struct cc_conn *conn);
/* Reads what is there and feeds it to the protocol (conn_read.c). */
void cc_conn_read(struct cc_conn *conn);
/* Fills in the host's half of the session (conn_read.c). */
void cc_conn_session_init(struct cc_conn *conn);
/* Feeds conn->input (conn_read.c). */
void cc_conn_feed_input(struct cc_conn *conn);
/* Answers with an error and closes (conn_read.c). status 0: only closes. */
void cc_conn_refuse(struct cc_conn *conn, int status, const char *text);
/* Its deadline has come. */
void cc_conn_expired(struct cc_due *due);
/* The server stops: sets the last moment in which a request may come or be completed. */
void cc_conn_stop(struct cc_conn *conn);

#endif
