/* From a socket's bytes to a whole request: the host's half of struct cc_session. Loop only. */
#include <errno.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "log/log.h"
#include "server/conn_write.h"
#include "server/health.h"
#include "server/server_state.h"

static struct cc_conn *conn_of(struct cc_session *session)
{
    return CC_CONTAINER(session, struct cc_conn, session);
}

static struct cc_request *session_request(struct cc_session *session)
{
    struct cc_conn *conn = conn_of(session);

    if (conn->exchange == NULL)
        conn->exchange = cc_exchange_new(conn->server, conn);
    return &conn->exchange->request;
}

static bool session_body(struct cc_session *session, struct cc_request *request, const char *bytes,
                         size_t len, struct cc_err *err)
{
    const struct cc_server_settings *settings = conn_of(session)->server->setup->settings;

    if (settings->body_limit > 0 && request->body.length + (int64_t)len > settings->body_limit)
        return cc_fail_status(err, 413, "the body is larger than limit-post, %lld bytes",
                              (long long)settings->body_limit);
    return cc_body_append(&request->body, bytes, len, settings->post_buffering, err);
}

static void session_ready(struct cc_session *session, struct cc_request *request)
{
    struct cc_conn *conn = conn_of(session);
    struct cc_server *server = conn->server;

    conn->asked = true;
    atomic_store_explicit(&conn->owner, CC_OWNER_APP, memory_order_relaxed);
    if (cc_health_asked(server, request)) {
        cc_health_take(server, conn->exchange);
        return;
    }
    conn->exchange->ready_ns = cc_clock_ns();
    *server->ready_end = conn->exchange;
    server->ready_end = &conn->exchange->next;
    atomic_fetch_add_explicit(&server->crew.busy, 1, memory_order_relaxed);
}

void cc_conn_session_init(struct cc_conn *conn)
{
    conn->session.request = session_request;
    conn->session.body = session_body;
    conn->session.ready = session_ready;
}

void cc_conn_refuse(struct cc_conn *conn, int status, const char *text)
{
    if (status != 0) {
        /* A fault of ours is the operator's to mend; the peer learns no path and no reason. */
        bool ours = status == 500;
        cc_log(ours ? CC_LOG_ERROR : CC_LOG_INFO, "%s: %s: answered %d",
               conn->remote_addr[0] == '\0' ? "unix socket" : conn->remote_addr, text, status);
        conn->listener->protocol->refuse(conn->state, status,
                                         ours ? "something is wrong on this server" : text,
                                         &conn->output.buf);
    }
    if (conn->exchange != NULL) {
        cc_exchange_free(conn->server, conn->exchange, true);
        conn->exchange = NULL;
    }
    conn->keep = false;
    conn->linger = true;
    cc_conn_flush(conn);
    cc_conn_continue(conn);
}

/* The deadline that fits the phase that the protocol is in now. */
static void set_deadline(struct cc_conn *conn, enum cc_phase before)
{
    struct cc_server *server = conn->server;
    const struct cc_server_settings *settings = server->setup->settings;

    switch (conn->session.phase) {
    case CC_PHASE_IDLE:
        break; /* as it was set when the connection became idle */
    case CC_PHASE_HEAD:
        /* From its first byte to its last: dripping does not prolong it. */
        if (before != CC_PHASE_HEAD)
            cc_deadlines_set(&server->deadlines, &conn->due, settings->head_timeout);
        break;
    case CC_PHASE_BODY:
        cc_deadlines_set(&server->deadlines, &conn->due, settings->body_timeout);
        break;
    }
}

/* false: the connection is refused, closed, or the app's: hands off. */
static bool feed(struct cc_conn *conn, const char *bytes, size_t len)
{
    enum cc_phase before = conn->session.phase;
    struct cc_err err = {.text = ""};
    size_t used = 0;

    if (!conn->listener->protocol->feed(conn->state, bytes, len, &used, &conn->output.buf, &err)) {
        if (err.status == 0 && err.text[0] != '\0')
            cc_log(CC_LOG_INFO, "%s: %s", conn->remote_addr, err.text);
        cc_conn_refuse(conn, err.status, err.text);
        return false;
    }
    if (used < len)
        cc_buf_append(&conn->input, bytes + used, len - used);
    bool ready = atomic_load_explicit(&conn->owner, memory_order_relaxed) != CC_OWNER_LOOP;
    if (conn->output.buf.len > 0)
        cc_conn_flush(conn);
    if (ready)
        return false;
    set_deadline(conn, before);
    return true;
}

void cc_conn_feed_input(struct cc_conn *conn)
{
    struct cc_buf input = conn->input;

    conn->input = (struct cc_buf){0};
    if (feed(conn, input.at, input.len))
        cc_conn_read(conn);
    cc_buf_clear(&input);
}

/* A peer that has shut down its sending side in mid-request may still read an answer. */
static void input_ended(struct cc_conn *conn)
{
    if (conn->listener->protocol->finished(conn->state))
        cc_conn_close(conn);
    else
        cc_conn_refuse(conn, 400, "the connection ended in the middle of a request");
}

void cc_conn_read(struct cc_conn *conn)
{
    struct cc_server *server = conn->server;
    ssize_t got;

    do
        got = recv(conn->io.fd, server->read_buffer, CC_READ_BUFFER, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got == 0) {
        input_ended(conn);
        return;
    }
    if (got < 0 && errno != EAGAIN) {
        cc_conn_close(conn);
        return;
    }
    /* One buffer a turn, so that a fast sender does not starve the others; epoll is level-triggered
     * and tells of what is left. */
    if (got > 0 && !feed(conn, server->read_buffer, (size_t)got))
        return;
    cc_conn_watch(conn, cc_conn_pending(conn) ? EV_READ | EV_WRITE : EV_READ);
}
