/* See sink.h. Standard error is shared with whoever started us, so it cannot be made non-blocking;
 * each write asks for it instead. */
#include "log/sink.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/attributes.h"

#define PATIENCE_MS 1000

/* Lines that were lost since one got through; while it is not 0 nobody waits for the reader. */
static _Atomic unsigned lost;

/* -1 with EAGAIN: the reader does not keep up. */
static ssize_t write_now(const char *bytes, size_t len)
{
    struct iovec piece = {(void *)(uintptr_t)bytes, len};
    ssize_t written = pwritev2(STDERR_FILENO, &piece, 1, -1, RWF_NOWAIT);

    if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return written;
    /* A kernel before 6.5 knows no RWF_NOWAIT for pipes. Room for PIPE_BUF is what POLLOUT means;
     * another process may be faster, which then costs its reader's pace, as everywhere else. */
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&room, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(STDERR_FILENO, bytes, len);
}

static ssize_t write_kind(mode_t mode, const char *bytes, size_t len)
{
    if (S_ISFIFO(mode))
        return write_now(bytes, len);
    if (S_ISSOCK(mode))
        return send(STDERR_FILENO, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    return write(STDERR_FILENO, bytes, len);
}

static void say_what_was_lost(mode_t mode)
{
    char line[128];
    unsigned count = atomic_exchange(&lost, 0);

    if (count == 0)
        return;
    int len = snprintf(line, sizeof line,
                       "warning: %u lines of this log are lost: its reader was too slow\n", count);
    ssize_t written = write_kind(mode, line, (size_t)len);
    (void)written; /* there is nowhere else to say it */
}

void cc_sink_write(const char *bytes, size_t len)
{
    int saved = errno;
    struct stat stat;
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};

    /* Asked each time (it is cheap): logto and the app may point it elsewhere. */
    if (fstat(STDERR_FILENO, &stat) != 0)
        goto out;
    ssize_t written = write_kind(stat.st_mode, bytes, len);
    if (written < 0 && errno == EAGAIN && atomic_load(&lost) == 0 &&
        poll(&room, 1, PATIENCE_MS) > 0)
        written = write_kind(stat.st_mode, bytes, len);
    if (written < 0 && errno == EAGAIN)
        atomic_fetch_add(&lost, 1);
    else if (written >= 0 && CC_UNLIKELY(atomic_load(&lost) != 0))
        say_what_was_lost(stat.st_mode);
out:
    errno = saved;
}
