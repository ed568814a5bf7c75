/* See daemon.h. */
#include "system/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

/* How much of the log is shown when the start fails: the end of it says why. */
#define SHOWN_BYTES ((off_t)64 * 1024)

/* The child's: it belongs to the process, whoever in it notices that the server works. */
static struct {
    int report; /* 0: nobody waits */
    pid_t pid;  /* 0: not in the background */
} background;

bool cc_daemon_running(void)
{
    return background.pid == getpid();
}

void cc_daemon_forget(void)
{
    if (background.report > 0)
        close(background.report);
    background.report = 0;
}

void cc_daemon_ready(void)
{
    if (background.report > 0 && !cc_fd_write_all(background.report, "", 1))
        errno = 0; /* nobody waits any more: killed */
    cc_daemon_forget();
}

static off_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
}

/* What was appended since: the child's errors went there, and whoever started it looks here. */
static void show_log(const char *path, off_t from)
{
    char piece[4096];
    off_t size = size_of(path);
    ssize_t got;

    if (size <= from)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (size - from > SHOWN_BYTES)
        from = size - SHOWN_BYTES;
    dprintf(STDERR_FILENO, "--- %s:\n", path);
    while ((got = pread(fd, piece, sizeof piece, from)) > 0) {
        from += got;
        if (!cc_fd_write_all(STDERR_FILENO, piece, (size_t)got))
            break;
    }
    close(fd);
}

/* False when the child is gone without a word. Passes signals on meanwhile. */
static bool wait_for_report(int report, pid_t child)
{
    sigset_t stops;
    char byte;

    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGQUIT);
    struct pollfd fds[] = {{.fd = report, .events = POLLIN},
                           {.fd = signalfd(-1, &stops, SFD_CLOEXEC), .events = POLLIN}};
    while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
        struct signalfd_siginfo info;
        if (fds[0].revents != 0)
            break;
        if (fds[1].revents != 0 && read(fds[1].fd, &info, sizeof info) == sizeof info)
            kill(child, info.ssi_signo == SIGQUIT ? SIGQUIT : SIGTERM);
    }
    if (fds[1].fd >= 0)
        close(fds[1].fd);
    return read(report, &byte, 1) == 1;
}

static int wait_in_parent(const char *log, off_t log_size, int report, pid_t child)
{
    int status = 0;

    if (wait_for_report(report, child))
        return 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    show_log(log, log_size);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    fprintf(stderr, "ccontainer: the server was killed by SIG%s before it was ready\n",
            sigabbrev_np(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
}

enum cc_daemon_side cc_daemon_begin(const char *log, int *code, struct cc_err *err)
{
    off_t log_size = size_of(log);
    int ends[2];

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        cc_fail(err, "daemonize: pipe: %s", strerror(errno));
        return CC_DAEMON_FAILED;
    }
    pid_t child = fork();
    if (child < 0) {
        cc_fail(err, "daemonize: fork: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
        return CC_DAEMON_FAILED;
    }
    if (child > 0) {
        close(ends[1]);
        *code = wait_in_parent(log, log_size, ends[0], child);
        close(ends[0]);
        return CC_DAEMON_PARENT;
    }
    close(ends[0]);
    setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
    background.report = ends[1];
    background.pid = getpid();
    return CC_DAEMON_CHILD;
}
