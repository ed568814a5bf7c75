/* See exchange.h. */
#include "server/exchange.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "server/reply.h"
#include "server/server_state.h"

/* More than what runs at once is not worth keeping. */
#define KEEP_FREE 64
#define KEEP_HEAD ((size_t)4096)

struct cc_exchange *cc_exchange_new(struct cc_server *server, struct cc_conn *conn)
{
    struct cc_exchange *exchange = server->free_exchanges;

    if (exchange != NULL) {
        server->free_exchanges = exchange->next;
        server->n_free_exchanges--;
    } else {
        exchange = cc_alloc_zeroed(1, sizeof *exchange);
        cc_request_init(&exchange->request);
        cc_reply_init(exchange);
    }
    exchange->conn = conn;
    exchange->next = NULL;
    return exchange;
}

static void destroy(struct cc_exchange *exchange)
{
    cc_request_clear(&exchange->request);
    cc_buf_clear(&exchange->head);
    free(exchange);
}

void cc_exchange_free(struct cc_server *server, struct cc_exchange *exchange, bool holds_loop)
{
    if (!holds_loop || server->n_free_exchanges >= KEEP_FREE) {
        destroy(exchange);
        return;
    }
    cc_request_reset(&exchange->request);
    if (exchange->head.cap > KEEP_HEAD)
        cc_buf_clear(&exchange->head);
    exchange->head.len = 0;
    exchange->status = 0;
    exchange->n_headers = 0;
    exchange->head_bytes = exchange->body_bytes = 0;
    exchange->has_head = exchange->closes = exchange->framed = false;
    atomic_store_explicit(&exchange->marks, 0, memory_order_relaxed);
    exchange->next = server->free_exchanges;
    server->free_exchanges = exchange;
    server->n_free_exchanges++;
}

void cc_exchange_free_all(struct cc_server *server)
{
    while (server->free_exchanges != NULL) {
        struct cc_exchange *next = server->free_exchanges->next;
        destroy(server->free_exchanges);
        server->free_exchanges = next;
    }
    server->n_free_exchanges = 0;
}
