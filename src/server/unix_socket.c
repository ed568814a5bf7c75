/* See unix_socket.h. */
#include "server/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* Two that start at once would each take the other's new socket for a stale one. -1: no lock is to
 * be had (somebody keeps it, or the folder cannot be read); that is no reason not to start. */
static int lock_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? cc_strdup(".") : cc_strndup(path, (size_t)(slash - path) + 1);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    free(folder);
    for (int tries = 0; fd >= 0 && tries < 100; tries++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&(struct timespec){.tv_nsec = 10 * CC_MILLISECOND_NS}, NULL);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A socket's file is left behind by a server that was killed; it may go when nobody listens. */
static bool remove_stale(const struct cc_address *address, struct cc_err *err)
{
    struct stat info;

    if (lstat(address->path, &info) != 0)
        return true;
    if (!S_ISSOCK(info.st_mode))
        return cc_fail(err,
                       "%s is there already and is no socket: move it away or listen "
                       "elsewhere",
                       address->path);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return cc_fail(err, "cannot make a socket: %s", strerror(errno));
    int refused = connect(probe, (const struct sockaddr *)&address->sock, address->sock_len);
    int why = errno;
    close(probe);
    if (refused == 0 || why == EAGAIN)
        return cc_fail(err, "another program is listening on %s: stop it first", address->path);
    if (why != ECONNREFUSED && why != ENOENT)
        return cc_fail(err, "cannot tell whether anybody listens on %s: %s", address->path,
                       strerror(why));
    if (unlink(address->path) != 0 && errno != ENOENT)
        return cc_fail(err, "cannot remove the stale socket %s: %s", address->path,
                       strerror(errno));
    return true;
}

/* The file is made with this mode exactly: the kernel takes it from the socket's own inode. */
static bool bind_with_mode(int fd, const struct cc_address *address, mode_t mode,
                           struct cc_err *err)
{
    mode_t before = umask(0);
    bool fine = fchmod(fd, mode) == 0 &&
                bind(fd, (const struct sockaddr *)&address->sock, address->sock_len) == 0;
    int why = errno;

    umask(before);
    if (fine)
        return true;
    return cc_fail(err, "cannot listen on %s: %s%s", address->path, strerror(why),
                   why == EADDRINUSE ? ": another program is listening there"
                   : why == EACCES   ? ": this user may not write to the folder"
                   : why == ENOENT   ? ": the folder does not exist"
                                     : "");
}

/* By a descriptor of the file itself, so that nobody can put a link in its place in between. */
static bool give_away(const struct cc_address *address, const struct cc_server_settings *settings,
                      mode_t mode, struct cc_err *err)
{
    struct stat made;
    char itself[64];
    int file = open(address->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool fine = false;

    if (file < 0 || fstat(file, &made) != 0 || !S_ISSOCK(made.st_mode) ||
        made.st_uid != geteuid()) {
        cc_fail(err, "%s was replaced by somebody while it was made", address->path);
    } else if (fchownat(file, "", (uid_t)settings->owner_uid, (gid_t)settings->owner_gid,
                        AT_EMPTY_PATH) != 0) {
        cc_fail(err, "cannot give %s to user %lld, group %lld (chown-socket, uid, gid): %s",
                address->path, (long long)settings->owner_uid, (long long)settings->owner_gid,
                strerror(errno));
    } else {
        snprintf(itself, sizeof itself, "/proc/self/fd/%d", file);
        fine = chmod(itself, mode) == 0 ||
               cc_fail(err, "cannot change the mode of %s: %s", address->path, strerror(errno));
    }
    if (file >= 0)
        close(file);
    return fine;
}

/* As asked, or what the umask leaves. Octal; check.c has seen that it is. */
static mode_t mode_of(const struct cc_server_settings *settings)
{
    if (settings->chmod_socket != NULL)
        return (mode_t)strtol(settings->chmod_socket, NULL, 8);
    mode_t mask = umask(0);
    umask(mask);
    return 0777 & ~mask;
}

/* Nobody can connect before listen(), and by then the file is as it shall be. */
static bool open_file(const struct cc_address *address, const struct cc_server_settings *settings,
                      int fd, struct cc_err *err)
{
    mode_t mode = mode_of(settings);

    if (!bind_with_mode(fd, address, settings->owner_known ? mode & 0600 : mode, err))
        return false;
    bool fine = !settings->owner_known || give_away(address, settings, mode, err);
    if (fine && listen(fd, (int)settings->listen) != 0)
        fine = cc_fail(err, "cannot listen on %s: %s", address->path, strerror(errno));
    if (!fine)
        unlink(address->path);
    return fine;
}

bool cc_unix_socket_open(const struct cc_address *address,
                         const struct cc_server_settings *settings, int *fd, struct cc_err *err)
{
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return cc_fail(err, "cannot make a socket: %s", strerror(errno));
    int lock = lock_folder(address->path);
    bool fine = remove_stale(address, err) && open_file(address, settings, *fd, err);
    if (lock >= 0)
        close(lock);
    return fine;
}
