/* See conn_write.h. */
#include "server/conn_write.h"

#include <errno.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILE_PIECE ((size_t)1 << 20)

bool cc_conn_pending(const struct cc_conn *conn)
{
    return conn->output.buf.len > 0 || conn->file.fd >= 0 || conn->tail.buf.len > 0;
}

/* Bytes sent; 0: the socket is full or the peer gone (conn->gone). */
static size_t send_pieces(struct cc_conn *conn, struct iovec *pieces, size_t count)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t sent;

    do
        sent = sendmsg(conn->io.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return (size_t)sent;
    if (errno != EAGAIN)
        conn->gone = true;
    return 0;
}

/* What follows a file that is still being sent must wait behind it. */
static struct cc_buf *last_buffer(struct cc_conn *conn)
{
    return conn->file.fd >= 0 ? &conn->tail.buf : &conn->output.buf;
}

void cc_conn_send(struct cc_conn *conn, struct iovec *pieces, size_t count)
{
    size_t sent = 0;

    if (conn->gone)
        return;
    if (!cc_conn_pending(conn))
        sent = send_pieces(conn, pieces, count);
    if (conn->gone)
        return;
    for (size_t i = 0; i < count; i++) {
        if (sent >= pieces[i].iov_len) {
            sent -= pieces[i].iov_len;
            continue;
        }
        cc_buf_append(last_buffer(conn), (char *)pieces[i].iov_base + sent,
                      pieces[i].iov_len - sent);
        sent = 0;
    }
}

static bool flush_outgoing(struct cc_conn *conn, struct cc_outgoing *out)
{
    while (out->done < out->buf.len) {
        struct iovec piece = {out->buf.at + out->done, out->buf.len - out->done};
        size_t sent = send_pieces(conn, &piece, 1);
        if (sent == 0)
            return false;
        out->done += sent;
    }
    /* The memory goes with the last byte: an idle connection holds none. */
    if (out->buf.cap > 0)
        cc_buf_clear(&out->buf);
    out->done = 0;
    return true;
}

/* For files that sendfile(2) refuses (some FUSE and /proc files). */
static ssize_t copy_file(struct cc_conn *conn, size_t len)
{
    char piece[16384];
    ssize_t got =
        pread(conn->file.fd, piece, len < sizeof piece ? len : sizeof piece, conn->file.offset);

    if (got <= 0)
        return got;
    struct iovec iov = {piece, (size_t)got};
    size_t sent = send_pieces(conn, &iov, 1);
    conn->file.offset += (int64_t)sent;
    if (sent == 0 && !conn->gone) {
        errno = EAGAIN;
        return -1;
    }
    return sent == 0 ? 0 : (ssize_t)sent;
}

static bool flush_file(struct cc_conn *conn)
{
    while (conn->file.left > 0) {
        size_t len = conn->file.left > (int64_t)FILE_PIECE ? FILE_PIECE : (size_t)conn->file.left;
        ssize_t sent = sendfile(conn->io.fd, conn->file.fd, &conn->file.offset, len);
        if (sent < 0 && (errno == EINVAL || errno == ENOSYS))
            sent = copy_file(conn, len);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return false;
        /* 0: the file has become shorter than what was announced; only a cut tells the peer. */
        if (sent <= 0) {
            conn->gone = true;
            return false;
        }
        conn->file.left -= sent;
    }
    close(conn->file.fd);
    conn->file.fd = -1;
    return true;
}

void cc_conn_flush(struct cc_conn *conn)
{
    if (conn->gone || !flush_outgoing(conn, &conn->output))
        return;
    if (conn->file.fd >= 0 && !flush_file(conn))
        return;
    flush_outgoing(conn, &conn->tail);
}

bool cc_conn_drain(struct cc_conn *conn, int64_t seconds)
{
    while (!conn->gone && cc_conn_pending(conn)) {
        struct pollfd waiting = {.fd = conn->io.fd, .events = POLLOUT};
        int ready = poll(&waiting, 1, (int)(seconds * 1000));
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            conn->gone = true;
        else
            cc_conn_flush(conn);
    }
    return !conn->gone;
}
