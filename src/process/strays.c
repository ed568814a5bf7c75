/* See strays.h. */
#include "process/strays.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* The file's text, cut to size; empty where it cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);

    text[got < 0 ? 0 : got] = '\0';
    if (fd >= 0)
        close(fd);
}

static bool has_our_name(long pid)
{
    char path[64], name[32];

    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    read_text(path, name, sizeof name);
    return strncmp(name, "cc-app-", 7) == 0 || strncmp(name, "cc-worker-", 10) == 0;
}

/* Without the list in /proc (an option of the kernel) there is nothing to wait for. */
static bool any_of_ours(void)
{
    char path[64], text[4096], *end;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    read_text(path, text, sizeof text);
    for (char *at = text;; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            return false;
        if (has_our_name(pid))
            return true;
    }
}

void cc_strays_wait(void)
{
    int64_t deadline = cc_clock_ns() + CC_SECOND_NS;

    for (;;) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (!any_of_ours() || cc_clock_ns() > deadline)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 5 * CC_MILLISECOND_NS}, NULL);
    }
}
