/* See spawn.h. */
#include "process/spawn.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/signals.h"

pid_t cc_spawn(const char *name)
{
    sigset_t all, before;
    pid_t parent = getpid();

    fflush(NULL); /* or the child would write it a second time */
    sigfillset(&all);
    /* A signal that came to the child while it still has the parent's handlers would be lost. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid != 0) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The parent may have died before the call above. */
    if (getppid() != parent)
        _exit(1);
    prctl(PR_SET_NAME, name);
    cc_signals_default();
    return 0;
}

const char *cc_spawn_fate(int status, char *text, int size)
{
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        snprintf(text, (size_t)size, "was killed by SIG%s", name == NULL ? "?" : name);
    } else {
        snprintf(text, (size_t)size, "exited with code %d", WEXITSTATUS(status));
    }
    return text;
}
