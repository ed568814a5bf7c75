/* See fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static bool set_flag(int fd, int get, int set, int flag, bool on)
{
    int flags = fcntl(fd, get);
    if (flags < 0)
        return false;
    return fcntl(fd, set, on ? flags | flag : flags & ~flag) == 0;
}

bool cc_fd_nonblock(int fd, bool on)
{
    return set_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, on);
}

bool cc_fd_cloexec(int fd, bool on)
{
    return set_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, on);
}

bool cc_fd_fill_standard(void)
{
    /* open() gives the lowest free number. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return false;
    return true;
}

void cc_fd_cloexec_rest(void)
{
    /* A kernel before 5.11 does not know the flag: then only those are closed that are ours. */
    (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

bool cc_fd_write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        ssize_t written = write(fd, at, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        at += written;
        len -= (size_t)written;
    }
    return true;
}

const char *cc_fd_spool_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder == NULL || folder[0] == '\0' ? "/tmp" : folder;
}

int cc_fd_spool(void)
{
    const char *folder = cc_fd_spool_folder();

    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    /* File systems without O_TMPFILE (overlay on old kernels, NFS). */
    char *path = cc_format("%s/ccontainer-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

static char *read_open_file(int fd, size_t max, size_t *len)
{
    size_t cap = 4096, used = 0;
    char *text = cc_alloc(cap + 1);

    for (;;) {
        ssize_t got = read(fd, text + used, cap - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got == 0) {
                text[used] = '\0';
                *len = used;
                return text;
            }
            break;
        }
        used += (size_t)got;
        if (used > max) {
            errno = EFBIG;
            break;
        }
        if (used == cap) {
            cap *= 2;
            text = cc_realloc(text, cap + 1);
        }
    }
    int saved = errno;
    free(text);
    errno = saved;
    return NULL;
}

/* text: of the descriptor, which is closed; errno is kept. */
static char *read_and_close(int fd, size_t max, size_t *len)
{
    char *text = read_open_file(fd, max, len);
    int saved = errno;
    close(fd);
    errno = saved;
    return text;
}

char *cc_fd_read_file(const char *path, size_t max, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    return fd < 0 ? NULL : read_and_close(fd, max, len);
}

char *cc_fd_read_regular(const char *path, size_t max, size_t *len)
{
    /* O_NONBLOCK: the open of a FIFO would wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat stat;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
        return read_and_close(fd, max, len);
    close(fd);
    errno = ENOTSUP;
    return NULL;
}
