/* See signals.h. */
#include "process/signals.h"

#include <signal.h>
#include <stddef.h>

#include "process/stacks.h"

static void nothing(int number)
{
    (void)number;
}

static void set(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void cc_signals_hold(void)
{
    static const int held[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    sigset_t mask;

    sigemptyset(&mask);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        sigaddset(&mask, held[i]);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void cc_signals_release(void)
{
    sigset_t none;

    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

void cc_signals_reset(void)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGCHLD, SIGALRM};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        set(ours[i], SIG_DFL);
    set(SIGPIPE, SIG_IGN);
}

void cc_signals_default(void)
{
    set(SIGTERM, SIG_DFL);
    set(SIGCHLD, SIG_DFL);
    set(SIGPIPE, SIG_IGN);
    set(SIGINT, nothing);
    set(SIGQUIT, nothing);
    set(SIGHUP, nothing);
    cc_stacks_ignore();
    cc_signals_release();
}
