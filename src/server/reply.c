/* See reply.h. Runs on the app thread that owns the connection. The head is kept until the first
 * piece of body, so that both go out in one call; what the socket does not take of the last piece
 * is kept for the loop to send, so that a slow reader holds no thread. */
#include "server/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log/log.h"
#include "server/conn_write.h"
#include "server/run.h"
#include "server/server_state.h"

static struct cc_exchange *exchange_of(struct cc_reply *reply)
{
    return CC_CONTAINER(reply, struct cc_exchange, reply);
}

/* "Tue, 01 Dec 2026 12:00:00 GMT" (RFC 9110 5.6.7), written anew once a second and thread. */
static struct cc_span http_date(void)
{
    static _Thread_local char text[32];
    static _Thread_local size_t len;
    static _Thread_local time_t second;
    struct timespec now;
    struct tm tm;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != second) {
        second = now.tv_sec;
        /* Not strftime's %a and %b: an app may have set a locale. */
        static const char days[] = "SunMonTueWedThuFriSat";
        static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
        gmtime_r(&second, &tm);
        len = (size_t)snprintf(text, sizeof text, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                               days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
                               tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    }
    return (struct cc_span){text, len};
}

/* A status under 200 cannot end a request (RFC 9110 15.2), and one with four digits is none. */
static bool is_final(int status)
{
    return status >= 200 && status <= 999;
}

/* Without a head nothing of a body may be sent: the end answers 500. */
static bool can_send(const struct cc_exchange *exchange)
{
    return exchange->has_head && !exchange->conn->gone;
}

/* The response is framed to its end. */
static void end_framing(struct cc_exchange *exchange, bool whole, struct cc_buf *out)
{
    struct cc_conn *conn = exchange->conn;

    conn->keep = conn->listener->protocol->end(conn->state, whole, out) && !exchange->closes;
    exchange->framed = true;
}

static void reply_head(struct cc_reply *reply, const struct cc_response *response)
{
    struct cc_exchange *exchange = exchange_of(reply);
    struct cc_conn *conn = exchange->conn;
    struct cc_response full = *response;

    if (exchange->has_head)
        return;
    if (!is_final(response->status)) {
        cc_log(CC_LOG_ERROR, "the app gave %d as the status of a response: it is answered 500",
               response->status);
        return;
    }
    full.date = http_date();
    full.close =
        cc_server_stopping(conn->server) || conn->server->setup->settings->keepalive_timeout == 0;
    exchange->closes = full.close;
    conn->listener->protocol->head(conn->state, &exchange->request, &full, &exchange->head);
    exchange->has_head = true;
    exchange->status = response->status;
    exchange->n_headers = (uint32_t)response->n_headers;
    exchange->head_bytes = exchange->head.len;
}

static struct iovec piece_of(struct cc_span span)
{
    return (struct iovec){(void *)(uintptr_t)span.at, span.len};
}

/* Sends the kept head, what stands before the bytes, the bytes, and what stands after them. */
static void send_framed(struct cc_exchange *exchange, struct cc_span before, struct cc_span bytes,
                        struct cc_span after)
{
    struct iovec pieces[4];
    size_t count = 0;

    if (exchange->head.len > 0)
        pieces[count++] = (struct iovec){exchange->head.at, exchange->head.len};
    if (before.len > 0)
        pieces[count++] = piece_of(before);
    if (bytes.len > 0)
        pieces[count++] = piece_of(bytes);
    if (after.len > 0)
        pieces[count++] = piece_of(after);
    if (count > 0)
        cc_conn_send(exchange->conn, pieces, count);
    exchange->head.len = 0;
}

static enum cc_sent reply_body(struct cc_reply *reply, const char *bytes, size_t len, bool last)
{
    struct cc_exchange *exchange = exchange_of(reply);
    struct cc_conn *conn = exchange->conn;
    const struct cc_protocol *protocol = conn->listener->protocol;
    struct cc_frame frame = {.len = len};
    struct cc_span payload = {bytes, len};
    struct cc_buf end = {0};

    if (!can_send(exchange))
        return CC_SENT_GONE;
    if (len > 0)
        payload.len = protocol->frame(conn->state, len, &frame) ? frame.len : 0;
    exchange->body_bytes += payload.len;
    if (last) {
        cc_buf_append_span(&end, frame.after);
        end_framing(exchange, true, &end);
    }
    send_framed(exchange, frame.before, payload,
                last ? (struct cc_span){end.at, end.len} : frame.after);
    cc_buf_clear(&end);
    if (conn->gone)
        return CC_SENT_GONE;
    return !last && cc_conn_pending(conn) ? CC_SENT_PENDING : CC_SENT;
}

static bool reply_drain(struct cc_reply *reply)
{
    struct cc_conn *conn = exchange_of(reply)->conn;
    return cc_conn_drain(conn, conn->server->setup->settings->stream_timeout);
}

static int64_t reply_file(struct cc_reply *reply, int fd, int64_t offset, int64_t len)
{
    struct cc_exchange *exchange = exchange_of(reply);
    struct cc_conn *conn = exchange->conn;
    struct cc_frame frame = {0};
    struct stat info;

    if (!can_send(exchange) || fstat(fd, &info) != 0)
        return -1;
    if (len == 0)
        len = info.st_size > offset ? info.st_size - offset : 0;
    frame.len = (size_t)len;
    /* First what may fail: frame() has the bytes counted as sent. */
    int copy = len == 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (len > 0 && copy < 0)
        return -1;
    if (len == 0 || !conn->listener->protocol->frame(conn->state, (size_t)len, &frame)) {
        if (copy >= 0)
            close(copy);
        send_framed(exchange, CC_SPAN(""), CC_SPAN(""), CC_SPAN(""));
        return conn->gone ? -1 : len;
    }
    len = (int64_t)frame.len;
    exchange->body_bytes += frame.len;
    /* Only one file can be on its way. */
    if (conn->file.fd >= 0 && !reply_drain(reply)) {
        close(copy);
        return -1;
    }
    send_framed(exchange, frame.before, CC_SPAN(""), CC_SPAN(""));
    conn->file.fd = copy;
    conn->file.offset = offset;
    conn->file.left = len;
    cc_buf_append_span(&conn->tail.buf, frame.after);
    cc_conn_flush(conn);
    return conn->gone ? -1 : len;
}

/* A refusal is head and body in one. */
static void count_refusal(struct cc_exchange *exchange)
{
    const struct cc_buf *all = &exchange->head;
    const char *blank = all->len == 0 ? NULL : memmem(all->at, all->len, "\r\n\r\n", 4);

    exchange->head_bytes = blank == NULL ? all->len : (size_t)(blank - all->at) + 4;
    exchange->body_bytes = all->len - exchange->head_bytes;
}

/* No head ever came: the app failed before it, or there is no app. */
static void answer_500(struct cc_exchange *exchange)
{
    struct cc_conn *conn = exchange->conn;

    exchange->status = 500;
    exchange->has_head = true;
    exchange->framed = true;
    conn->listener->protocol->refuse(conn->state, 500, "Internal Server Error", &exchange->head);
    count_refusal(exchange);
    conn->keep = false;
}

static void finish(struct cc_exchange *exchange, bool whole)
{
    struct cc_conn *conn = exchange->conn;
    struct cc_buf end = {0};

    if (!exchange->has_head)
        answer_500(exchange);
    if (!exchange->framed)
        end_framing(exchange, whole, &end);
    if (!conn->gone)
        send_framed(exchange, CC_SPAN(""), CC_SPAN(""), (struct cc_span){end.at, end.len});
    cc_buf_clear(&end);
    if (conn->gone)
        conn->keep = false;
}

static void reply_end(struct cc_reply *reply, bool whole)
{
    struct cc_exchange *exchange = exchange_of(reply);

    finish(exchange, whole);
    unsigned before = atomic_fetch_or(&exchange->marks, CC_EXCHANGE_OVER);
    if (before & CC_EXCHANGE_RETURNED)
        cc_run_complete(exchange, NULL);
}

void cc_reply_init(struct cc_exchange *exchange)
{
    exchange->reply = (struct cc_reply){
        .head = reply_head,
        .body = reply_body,
        .drain = reply_drain,
        .file = reply_file,
        .end = reply_end,
    };
}
