/* See run.h. */
#include "server/run.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/access.h"
#include "server/conn_write.h"
#include "server/server_state.h"

static void mark_slot(struct cc_slot *slot, const struct cc_request *request, int64_t now)
{
    size_t room = sizeof slot->method_uri - 2;
    size_t method = request->method.len < room ? request->method.len : room;
    size_t uri = request->uri.len < room - method ? request->uri.len : room - method;

    memcpy(slot->method_uri, request->method.at, method);
    slot->method_uri[method] = ' ';
    memcpy(slot->method_uri + method + 1, request->uri.at, uri);
    slot->method_uri[method + 1 + uri] = '\0';
    atomic_store_explicit(&slot->started_ns, now, memory_order_release);
}

/* Only this thread writes its slot, so no read-modify-write is needed. */
static void add(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount,
                          memory_order_relaxed);
}

void cc_run(struct cc_thread *thread, struct cc_exchange *exchange)
{
    const struct cc_server_setup *setup = thread->crew->server->setup;
    int64_t started = cc_clock_ns();
    uint64_t token = 0;

    exchange->worker_thread = thread->index;
    mark_slot(thread->slot, &exchange->request, started);
    if (thread->leads)
        token = cc_crew_enter_app(thread);
    if (setup->app_state != NULL)
        setup->app->handle(setup->app_state, thread->app_thread, &exchange->request,
                           &exchange->reply);
    else
        exchange->reply.end(&exchange->reply, false);
    if (thread->leads)
        cc_crew_leave_app(thread, token);
    int64_t spent = cc_clock_ns() - started;
    atomic_store_explicit(&thread->slot->started_ns, 0, memory_order_relaxed);
    add(&thread->slot->busy_ns, (uint64_t)spent);
    add(&thread->slot->requests, 1);
    cc_crew_note_duration(thread->crew, spent);
    if (atomic_fetch_or(&exchange->marks, CC_EXCHANGE_RETURNED) & CC_EXCHANGE_OVER)
        cc_run_complete(exchange, thread);
}

static void log_access(const struct cc_exchange *exchange)
{
    const struct cc_server_setup *setup = exchange->conn->server->setup;

    cc_access_log(&(struct cc_access){
        .request = &exchange->request,
        .status = exchange->status,
        .header_bytes = exchange->head_bytes,
        .body_bytes = exchange->body_bytes,
        .n_headers = exchange->n_headers,
        .duration_ns = cc_clock_ns() - exchange->ready_ns,
        .worker = setup->worker,
        .thread = exchange->worker_thread,
        .worker_requests = cc_scoreboard_requests(setup->board, setup->row),
        .total_requests = cc_scoreboard_requests(setup->board, 0),
    });
}

/* The connection back to the loop that another thread holds. */
static void give_back(struct cc_server *server, struct cc_conn *conn)
{
    int owner = CC_OWNER_APP;
    bool wake = true;

    if (conn->keep && !conn->gone && !cc_conn_pending(conn) && conn->input.len == 0) {
        cc_deadlines_prolong(&server->deadlines, &conn->due,
                             server->setup->settings->keepalive_timeout);
        if (conn->armed_once &&
            atomic_compare_exchange_strong(&conn->owner, &owner, CC_OWNER_LOOP)) {
            /* A stop that came meanwhile has passed this connection by. */
            if (cc_server_stopping(server))
                ev_async_send(server->loop, &server->mail);
            return;
        }
    } else if (!conn->keep && !conn->armed_once && !cc_server_stopping(server) &&
               cc_conn_may_close(conn)) {
        /* The loop does not know the descriptor: close it for the peer now, the rest can wait. */
        close(conn->io.fd);
        conn->io.fd = -1;
        wake = false;
    }
    cc_mailbox_push(server, conn, wake);
    /* A stop that came after the look above has taken its mail already. */
    if (!wake && cc_server_stopping(server))
        ev_async_send(server->loop, &server->mail);
}

static void complete(struct cc_exchange *exchange, struct cc_thread *thread)
{
    struct cc_conn *conn = exchange->conn;
    struct cc_server *server = conn->server;
    bool holds_loop = thread != NULL && thread->leads;
    int64_t limit = server->setup->max_requests;

    if (server->setup->access_log)
        log_access(exchange);
    conn->exchange = NULL;
    cc_exchange_free(server, exchange, holds_loop);
    if (limit > 0 && atomic_fetch_add(&server->answered, 1) + 1 == limit)
        server->setup->worn_out(server->setup->data);
    atomic_fetch_sub(&server->crew.busy, 1);
    if (!holds_loop) {
        give_back(server, conn);
        if (!atomic_load(&server->accepting))
            ev_async_send(server->loop, &server->mail);
        return;
    }
    atomic_store_explicit(&conn->owner, CC_OWNER_LOOP, memory_order_relaxed);
    cc_conn_continue(conn);
}

void cc_run_complete(struct cc_exchange *exchange, struct cc_thread *thread)
{
    struct cc_crew *crew = &exchange->conn->server->crew;

    if (thread != NULL) {
        complete(exchange, thread);
        return;
    }
    /* A thread of the app's own: nobody joins it, so the server's end waits for it here. */
    atomic_fetch_add(&crew->strangers, 1);
    complete(exchange, NULL);
    atomic_fetch_sub(&crew->strangers, 1);
}
