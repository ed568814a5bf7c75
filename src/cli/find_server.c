/* See find_server.h. */
#include "cli/find_server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/span.h"
#include "process/control.h"

#define ANSWER_MS 10000

int cc_find_connect(pid_t pid)
{
    struct sockaddr_un address;
    socklen_t len = cc_control_address(&address, (int32_t)pid);
    struct timeval patience = {.tv_sec = ANSWER_MS / 1000};
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    /* Anybody may take a name that belongs to no file: only who listens counts. */
    if (connect(fd, (struct sockaddr *)&address, len) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
        if (peer.pid == pid)
            return fd;
        errno = ECONNREFUSED;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

bool cc_find_ask(int fd, const char *word, int *code, char *text, size_t size, int timeout_ms)
{
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    char *reply = cc_alloc(CC_CONTROL_REPLY + 1);
    ssize_t got = -1;

    if (send(fd, word, strlen(word), MSG_NOSIGNAL) >= 0) {
        int ready = poll(&answer, 1, timeout_ms);
        if (ready == 0)
            errno = ETIMEDOUT;
        if (ready > 0)
            got = recv(fd, reply, CC_CONTROL_REPLY, 0);
        if (got == 0)
            errno = 0;
    }
    bool fine = got >= 2 && reply[0] >= '0' && reply[0] <= '9';
    if (fine) {
        reply[got] = '\0';
        *code = reply[0] - '0';
        snprintf(text, size, "%s", reply + 2);
    }
    free(reply);
    return fine;
}

static bool is_same_file(const char *path, const struct stat *file)
{
    struct stat info;

    return path[0] != '\0' && stat(path, &info) == 0 && info.st_dev == file->st_dev &&
           info.st_ino == file->st_ino;
}

/* Asks the master whether it was started from the file (its first ini) or writes its pid to it. */
static enum cc_found ask_who(pid_t pid, const struct stat *file)
{
    char text[8192];
    int code;
    int fd = cc_find_connect(pid);

    if (fd < 0)
        return errno == ECONNREFUSED ? CC_FOUND_NOT : CC_FOUND_NO_ANSWER;
    bool fine = cc_find_ask(fd, "who", &code, text, sizeof text, ANSWER_MS) && code == 0;
    close(fd);
    char *pidfile = fine ? strchr(text, '\n') : NULL;
    if (pidfile == NULL)
        return CC_FOUND_NO_ANSWER;
    *pidfile++ = '\0';
    return is_same_file(text, file) || is_same_file(pidfile, file) ? CC_FOUND : CC_FOUND_NOT;
}

/* The pid in a pidfile; 0: the file is none. */
static pid_t pid_in(const char *path)
{
    size_t len;
    char *text = cc_fd_read_regular(path, 64, &len);
    uint64_t pid = 0;

    if (text == NULL)
        return 0;
    struct cc_span digits = cc_span_trim((struct cc_span){text, strcspn(text, "\r\n")});
    if (!cc_span_to_number(digits, INT32_MAX, &pid))
        pid = 0;
    free(text);
    return (pid_t)pid;
}

/* The masters that listen in this network namespace, from the kernel's list; each is asked. */
static enum cc_found search_all(const struct stat *file, pid_t *found)
{
    static const char prefix[] = "@ccontainer/";
    enum cc_found best = CC_FOUND_NOT;
    char line[512];
    FILE *list = fopen("/proc/net/unix", "re");

    while (list != NULL && fgets(line, sizeof line, list) != NULL) {
        const char *name = strstr(line, prefix);
        pid_t pid = name == NULL ? 0 : (pid_t)strtol(name + strlen(prefix), NULL, 10);
        /* A connection is in the list beside the socket that listens. */
        if (pid <= 0 || (best == CC_FOUND && pid == *found))
            continue;
        enum cc_found one = ask_who(pid, file);
        if (one == CC_FOUND && best == CC_FOUND)
            best = CC_FOUND_MANY;
        else if (one == CC_FOUND && best != CC_FOUND_MANY) {
            best = CC_FOUND;
            *found = pid;
        }
    }
    if (list != NULL)
        fclose(list);
    return best;
}

static enum cc_found find_by_pidfile(const char *path, pid_t pid, const struct stat *file,
                                     struct cc_err *err)
{
    enum cc_found found = ask_who(pid, file);

    if (found == CC_FOUND_NOT && kill(pid, 0) != 0 && errno == ESRCH)
        cc_fail(err, "no server runs: %s is left over from process %d", path, (int)pid);
    else if (found == CC_FOUND_NOT)
        cc_fail(err,
                "%s names process %d, which is no ccontainer with a master that has this pidfile",
                path, (int)pid);
    else if (found == CC_FOUND_NO_ANSWER)
        cc_fail(err, "process %d of %s does not answer, or not to this user", (int)pid, path);
    return found;
}

enum cc_found cc_find_server(const char *file, pid_t *pid, struct cc_err *err)
{
    struct stat info;

    if (stat(file, &info) != 0) {
        cc_fail(err, "%s: %s", file, strerror(errno));
        return CC_FOUND_NOT;
    }
    *pid = pid_in(file);
    if (*pid > 0)
        return find_by_pidfile(file, *pid, &info, err);
    enum cc_found found = search_all(&info, pid);
    if (found == CC_FOUND_NOT)
        cc_fail(err, "no server runs that was started with %s and has a master", file);
    else if (found == CC_FOUND_MANY)
        cc_fail(err, "several servers run with %s: name the pidfile of one", file);
    return found;
}
