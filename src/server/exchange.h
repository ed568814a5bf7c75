/* A request and its answer on their way through the server. Memory is the server's; owned like the
 * connection that it belongs to. */
#ifndef CC_SERVER_EXCHANGE_H
#define CC_SERVER_EXCHANGE_H

#include "plugin/app.h"
#include "server/conn.h"

enum cc_exchange_mark {
    CC_EXCHANGE_RETURNED = 1, /* handle() has returned */
    CC_EXCHANGE_OVER = 2,     /* end() was called */
};

struct cc_exchange {
    struct cc_request request;
    struct cc_reply reply; /* what the app is given */
    struct cc_conn *conn;
    struct cc_exchange *next; /* in the ready list, the job queue or the free list */
    int64_t ready_ns;         /* when the request was whole */
    /* The answer so far. */
    int status;
    uint32_t n_headers;
    uint64_t head_bytes, body_bytes; /* on the wire */
    struct cc_buf head;              /* not sent yet: goes out with the first piece of body */
    bool has_head;
    bool closes; /* the head says that the connection ends with this response */
    bool framed; /* the protocol has been told the end */
    /* enum cc_exchange_mark; whoever sets the second of them completes the exchange, so that an app
     * may answer after handle() has returned. */
    _Atomic unsigned marks;
    int worker_thread; /* index of the app thread that ran it */
};

/* An empty one; from the free list if the caller holds the loop. */
struct cc_exchange *cc_exchange_new(struct cc_server *server, struct cc_conn *conn);
/* Gives it back. holds_loop: the caller may touch the free list. */
void cc_exchange_free(struct cc_server *server, struct cc_exchange *exchange, bool holds_loop);
/* Frees the free list. */
void cc_exchange_free_all(struct cc_server *server);

#endif
