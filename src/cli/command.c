/* See command.h. */
#include "cli/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/find_server.h"
#include "process/control.h"

static const char *const commands[] = {"reload", "upgrade", "stop", "status"};

bool cc_command_is(char **argv)
{
    for (size_t i = 0; argv[0] != NULL && argv[1] != NULL && i < sizeof commands / sizeof *commands;
         i++)
        if (strcmp(argv[1], commands[i]) == 0)
            return true;
    return false;
}

static void wait_gone(pid_t pid, int pidfd)
{
    struct pollfd exit = {.fd = pidfd, .events = POLLIN};

    while (pidfd >= 0 && poll(&exit, 1, -1) <= 0)
        continue;
    /* A kernel without pidfds. */
    while (pidfd < 0 && kill(pid, 0) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20 * CC_MILLISECOND_NS}, NULL);
}

/* The server's end is the answer. */
static int stop(int fd, pid_t pid)
{
    char text[256];
    int code;
    /* While the connection stands the pid is nobody else's. */
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

    errno = 0;
    if (cc_find_ask(fd, "stop", &code, text, sizeof text, -1)) {
        fprintf(stderr, "ccontainer: not stopped: %s\n", text);
        return CC_COMMAND_FAILED;
    }
    if (errno != 0 && errno != ECONNRESET) {
        fprintf(stderr, "ccontainer: not stopped: %s\n", strerror(errno));
        return CC_COMMAND_NO_ANSWER;
    }
    wait_gone(pid, pidfd);
    if (pidfd >= 0)
        close(pidfd);
    printf("stopped (pid %d)\n", (int)pid);
    return CC_COMMAND_DONE;
}

static int ask(int fd, const char *command)
{
    static char text[CC_CONTROL_REPLY];
    int code;

    errno = 0;
    /* A reload takes as long as the app takes to load. */
    int patience = strcmp(command, "status") == 0 ? 10000 : -1;
    if (!cc_find_ask(fd, command, &code, text, sizeof text, patience)) {
        fprintf(stderr, "ccontainer: %s: %s\n", command,
                errno == 0 ? "the server has ended without an answer" : strerror(errno));
        return CC_COMMAND_NO_ANSWER;
    }
    if (code == 0)
        printf("%s\n", text);
    else
        fprintf(stderr, "ccontainer: %s failed: %s\n", command, text);
    return code == 0 ? CC_COMMAND_DONE : CC_COMMAND_FAILED;
}

int cc_command_run(char **argv)
{
    struct cc_err err;
    pid_t pid;

    if (argv[2] == NULL || argv[3] != NULL) {
        fprintf(stderr, "ccontainer: expected \"ccontainer %s INI\" or \"ccontainer %s PIDFILE\"\n",
                argv[1], argv[1]);
        return CC_COMMAND_USAGE;
    }
    enum cc_found found = cc_find_server(argv[2], &pid, &err);
    if (found != CC_FOUND) {
        fprintf(stderr, "ccontainer: %s\n", err.text);
        return found == CC_FOUND_NOT ? CC_COMMAND_NOT_RUNNING : CC_COMMAND_NO_ANSWER;
    }
    int fd = cc_find_connect(pid);
    if (fd < 0) {
        fprintf(stderr, "ccontainer: process %d: %s\n", (int)pid, strerror(errno));
        return CC_COMMAND_NO_ANSWER;
    }
    int code = strcmp(argv[1], "stop") == 0 ? stop(fd, pid) : ask(fd, argv[1]);
    close(fd);
    return code;
}
