/* See pidfile.h. */
#include "system/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"

static char *absolute(const char *path)
{
    if (path[0] == '/')
        return cc_strdup(path);
    char *here = getcwd(NULL, 0);
    if (here == NULL)
        return cc_strdup(path);
    char *whole = cc_format("%s/%s", here, path);
    free(here);
    return whole;
}

/* Digits and white space only (an empty file too): what a pidfile may hold. */
static bool holds_a_pid(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);

    if (got < 0 || (size_t)got == size - 1)
        return false;
    text[got] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return strspn(text, "0123456789 \t") == strlen(text);
}

static bool lock(int fd, const char *path, struct cc_err *err)
{
    char old[64];
    struct stat stat;

    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode))
        return cc_fail(err, "pidfile %s: is not a regular file", path);
    if (!holds_a_pid(fd, old, sizeof old))
        return cc_fail(err,
                       "pidfile %s: the file exists and holds something else than a process id; "
                       "name another file, or remove it",
                       path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return cc_fail(err,
                       "pidfile %s: another ccontainer runs with it (pid %s); stop that one first, "
                       "or name another file",
                       path, old);
    return true;
}

static bool put_pid(int fd, const char *path, struct cc_err *err)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%d\n", (int)getpid());

    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) == len)
        return true;
    return cc_fail(err, "pidfile %s: cannot be written: %s", path, strerror(errno));
}

bool cc_pidfile_write(struct cc_pidfile *pidfile, const char *path, struct cc_err *err)
{
    /* O_NOFOLLOW: we may be root, and the folder may be everybody's. */
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);

    if (fd < 0)
        return cc_fail(err, "pidfile %s: cannot be written: %s", path,
                       errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    if (!lock(fd, path, err) || !put_pid(fd, path, err)) {
        close(fd);
        return false;
    }
    pidfile->fd = fd;
    pidfile->path = absolute(path);
    return true;
}

void cc_pidfile_forget(struct cc_pidfile *pidfile)
{
    if (pidfile->fd < 0)
        return;
    close(pidfile->fd);
    free(pidfile->path);
    *pidfile = (struct cc_pidfile){.fd = -1};
}

bool cc_pidfile_close(struct cc_pidfile *pidfile, bool remove, struct cc_err *err)
{
    struct stat ours, there;
    bool fine = true;

    if (pidfile->fd < 0)
        return true;
    if (remove && fstat(pidfile->fd, &ours) == 0 && stat(pidfile->path, &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev && unlink(pidfile->path) != 0)
        fine = cc_fail(err, "pidfile %s cannot be removed: %s", pidfile->path, strerror(errno));
    cc_pidfile_forget(pidfile);
    return fine;
}
