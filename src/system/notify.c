/* See notify.h. */
#include "system/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/span.h"
#include "log/log.h"

/* The environment's part; there is one of it in a process. */
static struct {
    int fd;       /* 0: none, since standard input is never it */
    char *socket; /* the variables as they were; owned */
    char *watchdog_usec, *watchdog_pid;
    bool complained;
} manager;

static char *take_variable(const char *name)
{
    const char *value = getenv(name);
    char *copy = value == NULL ? NULL : cc_strdup(value);

    unsetenv(name);
    return copy;
}

/* "/run/systemd/notify" or "@abstract". */
static bool address_of(const char *text, struct sockaddr_un *address, socklen_t *len)
{
    size_t bytes = strlen(text);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((text[0] != '/' && text[0] != '@') || bytes < 2 || bytes >= sizeof address->sun_path)
        return false;
    memcpy(address->sun_path, text, bytes);
    if (text[0] == '@')
        address->sun_path[0] = '\0';
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
    return true;
}

static int connect_to(const char *text)
{
    struct timeval patience = {.tv_sec = 1};
    struct sockaddr_un address;
    socklen_t len;

    if (!address_of(text, &address, &len)) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, len) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

void cc_notify_begin(int handed)
{
    manager.socket = take_variable("NOTIFY_SOCKET");
    manager.watchdog_usec = take_variable("WATCHDOG_USEC");
    manager.watchdog_pid = take_variable("WATCHDOG_PID");
    if (manager.socket == NULL)
        return;
    int fd = handed >= 0 ? handed : connect_to(manager.socket);
    if (fd < 0)
        cc_log(CC_LOG_WARN,
               "NOTIFY_SOCKET: cannot reach the service manager at \"%s\": %m; it is told nothing",
               manager.socket);
    else
        manager.fd = fd;
}

bool cc_notify_wanted(void)
{
    return manager.fd > 0;
}

int64_t cc_notify_watchdog_ns(void)
{
    uint64_t usec, pid;

    if (manager.fd <= 0 || manager.watchdog_usec == NULL ||
        !cc_span_to_number(cc_span_of(manager.watchdog_usec), INT64_MAX / 1000, &usec))
        return 0;
    /* Meant for another process of the service. */
    if (manager.watchdog_pid != NULL &&
        (!cc_span_to_number(cc_span_of(manager.watchdog_pid), INT32_MAX, &pid) ||
         (pid_t)pid != getpid()))
        return 0;
    return (int64_t)usec * 1000 / 2;
}

void cc_notify(const char *state)
{
    ssize_t sent;

    if (manager.fd <= 0)
        return;
    do
        sent = send(manager.fd, state, strlen(state), MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && !manager.complained) {
        manager.complained = true;
        cc_log(CC_LOG_WARN, "the service manager cannot be told (%.*s): %m",
               (int)strcspn(state, "\n"), state);
    }
}

void cc_notify_end(void)
{
    if (manager.fd > 0)
        close(manager.fd);
    free(manager.socket);
    free(manager.watchdog_usec);
    free(manager.watchdog_pid);
    memset(&manager, 0, sizeof manager);
}

void cc_notify_hand_on(void)
{
    if (manager.socket != NULL)
        setenv("NOTIFY_SOCKET", manager.socket, 1);
    if (manager.watchdog_usec != NULL)
        setenv("WATCHDOG_USEC", manager.watchdog_usec, 1);
    if (manager.watchdog_pid != NULL)
        setenv("WATCHDOG_PID", manager.watchdog_pid, 1);
}

void cc_notify_take_back(void)
{
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

int cc_notify_fd(void)
{
    return manager.fd > 0 ? manager.fd : -1;
}
