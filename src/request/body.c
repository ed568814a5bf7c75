/* See body.h. */
#include "request/body.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

/* A buffer larger than this is freed with its request instead of kept for the next one. */
#define KEEP_BYTES ((size_t)16384)

static bool cannot_write(int error, struct cc_err *err)
{
    return cc_fail_status(err, 500,
                          "cannot write a request's body to a temporary file in %s: %s (TMPDIR "
                          "names another folder)",
                          cc_fd_spool_folder(), strerror(error));
}

static bool move_to_file(struct cc_body *body, struct cc_err *err)
{
    int fd = cc_fd_spool();
    if (fd < 0)
        return cannot_write(errno, err);
    if (!cc_fd_write_all(fd, body->memory.at, body->memory.len)) {
        int saved = errno;
        close(fd);
        return cannot_write(saved, err);
    }
    cc_buf_clear(&body->memory);
    body->fd = fd;
    return true;
}

bool cc_body_append(struct cc_body *body, const char *bytes, size_t len, int64_t memory_limit,
                    struct cc_err *err)
{
    if (body->fd < 0 && body->length + (int64_t)len > memory_limit && !move_to_file(body, err))
        return false;
    if (body->fd < 0)
        cc_buf_append(&body->memory, bytes, len);
    else if (!cc_fd_write_all(body->fd, bytes, len))
        return cannot_write(errno, err);
    body->length += (int64_t)len;
    return true;
}

ssize_t cc_body_read(struct cc_body *body, char *to, size_t len)
{
    int64_t left = body->length - body->position;

    if (left <= 0)
        return 0;
    if ((int64_t)len > left)
        len = (size_t)left;
    ssize_t got = (ssize_t)len;
    if (body->fd < 0) {
        memcpy(to, body->memory.at + body->position, len);
    } else {
        do
            got = pread(body->fd, to, len, body->position);
        while (got < 0 && errno == EINTR);
    }
    if (got > 0)
        body->position += got;
    return got;
}

void cc_body_clear(struct cc_body *body)
{
    if (body->fd >= 0)
        close(body->fd);
    if (body->memory.cap > KEEP_BYTES)
        cc_buf_clear(&body->memory);
    struct cc_buf kept = body->memory;
    kept.len = 0;
    *body = (struct cc_body){.fd = -1, .memory = kept};
}
