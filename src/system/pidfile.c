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

/* In a folder like /tmp anybody may have put the file there, and could change it afterwards. */
static bool is_planted(const struct stat *file, const char *path)
{
    struct stat folder;
    const char *slash = strrchr(path, '/');
    char *name = slash == NULL ? cc_strdup(".") : cc_strndup(path, (size_t)(slash - path) + 1);
    bool known = stat(name, &folder) == 0;

    free(name);
    if (file->st_uid == geteuid() || file->st_uid == 0)
        return false;
    return known && (folder.st_mode & S_IWOTH) != 0 && file->st_uid != folder.st_uid;
}

/* A file that may be ours: not opened by another server. */
static bool lock(int fd, const char *option, const char *path, struct cc_err *err)
{
    char old[64];
    struct stat stat;

    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode))
        return cc_fail(err, "%s %s: is not a regular file", option, path);
    if (is_planted(&stat, path))
        return cc_fail(err,
                       "%s %s: the file belongs to user %u, in a folder that everybody may write "
                       "to; remove it, or use a folder of the server's own",
                       option, path, (unsigned)stat.st_uid);
    if (!holds_a_pid(fd, old, sizeof old))
        return cc_fail(err,
                       "%s %s: the file exists and holds something else than a process id; "
                       "name another file, or remove it",
                       option, path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return cc_fail(err,
                       "%s %s: another ccontainer runs with it (pid %s); stop that one first, "
                       "or name another file",
                       option, path, old);
    return true;
}

static bool put_pid(int fd, const char *option, const char *path, struct cc_err *err)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%d\n", (int)getpid());

    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) == len)
        return true;
    return cc_fail(err, "%s %s: cannot be written: %s", option, path, strerror(errno));
}

/* Opens it; *made: it was not there. -1: err says why not. */
static int open_file(const char *option, const char *path, bool *made, struct cc_err *err)
{
    /* O_NOFOLLOW: we may be root, and the folder may be everybody's. */
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd;

    /* Others come and go: each of the two may fail by what another does in between. */
    do {
        *made = false;
        fd = open(path, flags);
        if (fd >= 0 || errno != ENOENT)
            break;
        fd = open(path, flags | O_CREAT | O_EXCL, 0644);
        *made = fd >= 0;
    } while (fd < 0 && errno == EEXIST);
    if (fd < 0)
        cc_fail(err, "%s %s: cannot be written: %s", option, path,
                errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    return fd;
}

/* The server that held it may have removed it between our open and our lock: then the lock is on a
 * file that nobody will find. */
static bool is_still_there(int fd, const char *path)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

/* Opened, ours and locked; -1: err says why not. */
static int claim(const char *option, const char *path, bool *made, struct cc_err *err)
{
    for (int tries = 0; tries < 100; tries++) {
        int fd = open_file(option, path, made, err);
        if (fd < 0)
            return -1;
        if (!lock(fd, option, path, err)) {
            close(fd);
            return -1;
        }
        if (is_still_there(fd, path))
            return fd;
        close(fd);
    }
    cc_fail(err, "%s %s: it is replaced all the time", option, path);
    return -1;
}

bool cc_pidfile_try(const char *option, const char *path, struct cc_err *err)
{
    bool made;
    int fd = claim(option, path, &made, err);

    if (fd < 0)
        return false;
    if (made)
        unlink(path);
    close(fd);
    return true;
}

bool cc_pidfile_write(struct cc_pidfile *pidfile, const char *option, const char *path,
                      struct cc_err *err)
{
    bool made;
    int fd = claim(option, path, &made, err);

    if (fd < 0)
        return false;
    if (!put_pid(fd, option, path, err)) {
        if (made)
            unlink(path);
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
    if (remove && fstat(pidfile->fd, &ours) == 0 && lstat(pidfile->path, &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev && unlink(pidfile->path) != 0)
        fine = cc_fail(err, "pidfile %s cannot be removed: %s", pidfile->path, strerror(errno));
    cc_pidfile_forget(pidfile);
    return fine;
}
