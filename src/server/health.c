/* See health.h. */
#include "server/health.h"

#include <string.h>

#include "server/server_state.h"

bool cc_health_asked(const struct cc_server *server, const struct cc_request *request)
{
    const char *path = server->setup->settings->health_path;
    struct cc_span uri = request->uri;

    if (path == NULL)
        return false;
    size_t len = strlen(path);
    return uri.len >= len && memcmp(uri.at, path, len) == 0 &&
           (uri.len == len || uri.at[len] == '?');
}

void cc_health_take(struct cc_server *server, struct cc_exchange *exchange)
{
    *server->checks_end = exchange;
    server->checks_end = &exchange->next;
}

static struct cc_span health_of(const struct cc_server *server, int *status)
{
    *status = 503;
    if (server->setup->app_state == NULL)
        return CC_SPAN("the app is not loaded\n");
    if (server->leaving)
        return CC_SPAN("stopping\n");
    if (server->paused)
        return CC_SPAN("paused\n");
    *status = 200;
    return CC_SPAN("ok\n");
}

static void answer(struct cc_server *server, struct cc_exchange *exchange)
{
    static const struct cc_pair headers[] = {
        {{"Content-Type", 12}, {"text/plain", 10}},
        {{"Cache-Control", 13}, {"no-store", 8}},
    };
    struct cc_response response = {.headers = headers, .n_headers = 2};
    struct cc_span text = health_of(server, &response.status);
    struct cc_conn *conn = exchange->conn;

    response.length = (int64_t)text.len;
    exchange->reply.head(&exchange->reply, &response);
    exchange->reply.body(&exchange->reply, text.at, text.len, true);
    conn->exchange = NULL;
    cc_exchange_free(server, exchange, true);
    atomic_store_explicit(&conn->owner, CC_OWNER_LOOP, memory_order_relaxed);
    cc_conn_continue(conn);
}

void cc_health_answer(struct cc_server *server)
{
    struct cc_exchange *exchange;

    while ((exchange = server->checks) != NULL) {
        server->checks = exchange->next;
        if (server->checks == NULL)
            server->checks_end = &server->checks;
        exchange->next = NULL;
        answer(server, exchange);
    }
}
