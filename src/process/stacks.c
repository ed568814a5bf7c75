/* See stacks.h. What runs in the handlers uses neither memory nor locks of its own, and what it
 * relies on was loaded when they were set. The order of a report is by how sure each part is to
 * come: what happened, the app's stacks, the native ones. */
#include "process/stacks.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alt_stack.h"
#include "process/stacks_signals.h"
#include "process/stacks_text.h"
#include "process/stacks_threads.h"

/* A report on a crash that hangs itself must not keep the process. */
#define LONGEST_S 5

enum { N_CRASHES = 5 };
static const int crashes[N_CRASHES] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* Of the process: a handler has no argument of ours. Written by cc_stacks_arm() alone, but for
 * what the handlers know each other by. */
static struct {
    int fd;
    pid_t pid;
    const struct cc_app_held *held;
    struct sigaction before[N_CRASHES]; /* what was set for crashes before us */
    _Atomic int busy;                   /* the thread that is writing a report; 0: none */
    atomic_bool asked;                  /* for a report that nobody has begun */
    _Atomic int crashing;               /* the thread whose crash is being reported; 0: none */
    volatile sig_atomic_t crash;        /* its signal */
    struct cc_alt_stack alt_stack;      /* of the main thread; never given up */
} armed;

static void rest(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    nanosleep(&moment, NULL);
}

/* The app's own threads in its own language. */
static void put_app(struct cc_stacks_text *text)
{
    const struct cc_app_held *held = armed.held;

    cc_stacks_flush(text);
    if (held != NULL && held->app != NULL && held->app->dump_stacks != NULL)
        held->app->dump_stacks(held->state, text->fd);
}

static void put_end(struct cc_stacks_text *text)
{
    cc_stacks_put(text, CC_STACKS_END "\n");
    cc_stacks_flush(text);
}

/* -- Asked by the parent -- */

static void report(void *context)
{
    struct cc_stacks_text text = {.fd = armed.fd};

    put_app(&text);
    cc_stacks_put_own(&text, context);
    cc_stacks_put_others(&text);
    put_end(&text);
}

/* One report at a time. The parent may ask for the next as soon as it has seen the end of this, and
 * another thread may get that signal: it leaves word. */
static void on_ask(int number, siginfo_t *info, void *context)
{
    int saved = errno, nobody = 0, self = (int)syscall(SYS_gettid);
    (void)number;
    (void)info;

    if (armed.pid != getpid())
        return; /* a child that the app forked is not who is asked */
    atomic_store(&armed.asked, true);
    while (atomic_load(&armed.asked) &&
           atomic_compare_exchange_strong(&armed.busy, &nobody, self)) {
        if (atomic_exchange(&armed.asked, false))
            report(context);
        atomic_store(&armed.busy, 0);
        nobody = 0;
    }
    errno = saved;
}

/* -- A crash -- */

static const char *name_of(int number)
{
    static const char *const names[N_CRASHES] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL",
                                                 "SIGABRT"};

    for (int i = 0; i < N_CRASHES; i++)
        if (crashes[i] == number)
            return names[i];
    return "a signal";
}

static void put_crash(struct cc_stacks_text *text, int number, const siginfo_t *info)
{
    cc_stacks_put(text, "Crash: ");
    cc_stacks_put(text, name_of(number));
    if (info->si_code <= 0) {
        cc_stacks_put(text, info->si_pid == getpid() ? ", raised by the process itself"
                                                     : ", sent by process ");
        if (info->si_pid != getpid())
            cc_stacks_put_number(text, (uint64_t)info->si_pid);
    } else if (info->si_code != SI_KERNEL && (number == SIGSEGV || number == SIGBUS)) {
        cc_stacks_put(text, " at address ");
        cc_stacks_put_hex(text, (uint64_t)(uintptr_t)info->si_addr, 1);
    }
    cc_stacks_put(text, ", in thread ");
    cc_stacks_put_number(text, (uint64_t)syscall(SYS_gettid));
    cc_stacks_put(text, "\n");
    cc_stacks_flush(text);
}

/* Puts back what was set before us. */
static void disarm(int number)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};

    sigemptyset(&plain.sa_mask);
    for (int i = 0; i < N_CRASHES; i++)
        if (crashes[i] == number)
            plain = armed.before[i];
    /* A crash that is ignored would come again and again. */
    if ((plain.sa_flags & SA_SIGINFO) == 0 && plain.sa_handler == SIG_IGN)
        plain.sa_handler = SIG_DFL;
    sigaction(number, &plain, NULL);
}

/* The signal takes the course that it would have had without us. One of the kernel's comes again by
 * itself as soon as the handler has returned to the instruction that caused it, so a core shows
 * just that. */
static void take_course(int number, const siginfo_t *info)
{
    disarm(number);
    if (info->si_code <= 0)
        raise(number);
}

static void end_by(int number)
{
    sigset_t only;

    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}

/* In whatever thread: a report hangs, so without one. */
static void on_too_long(int number)
{
    (void)number;
    end_by(armed.crash);
}

static void limit_time(int number)
{
    struct sigaction action = {.sa_handler = on_too_long, .sa_flags = SA_ONSTACK};
    sigset_t alarms;

    armed.crash = number;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(LONGEST_S);
}

/* false: this thread has nothing to report, and goes its way at once. */
static bool may_report(int self)
{
    int nobody = 0;

    if (armed.pid != getpid())
        return false;
    if (atomic_compare_exchange_strong(&armed.crashing, &nobody, self))
        return true;
    /* Another thread crashed before, and its report ends with the process. */
    for (int ms = 0; nobody != self && ms < LONGEST_S * 1000; ms++)
        rest();
    return false;
}

/* A report that the parent asked for is let finish, but not for long. */
static void become_busy(int self)
{
    for (int ms = 0; ms < 1000; ms++) {
        int nobody = 0;
        if (atomic_compare_exchange_strong(&armed.busy, &nobody, self) || nobody == self)
            return;
        rest();
    }
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    int self = (int)syscall(SYS_gettid);
    struct cc_stacks_text text = {.fd = armed.fd};

    cc_stacks_recover();
    if (may_report(self)) {
        limit_time(number);
        become_busy(self);
        put_crash(&text, number, info);
        cc_stacks_put_own(&text, context);
        put_app(&text);
        cc_stacks_put_others(&text);
        put_end(&text);
        alarm(0);
        take_course(number, info);
    } else if (atomic_load(&armed.crashing) == self) {
        /* In the report itself; or the app's own handler, set between two of ours, has run and
         * gives the signal back to the one before it, which is this. */
        end_by(number);
    } else {
        take_course(number, info);
    }
}

/* -- Setting it up -- */

static void set(int number, void (*handler)(int, siginfo_t *, void *), int flags,
                struct sigaction *before)
{
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | flags};
    struct sigaction old;

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, &old);
    /* After a fork it is ours already, and what was there before that is known. */
    if (before != NULL && ((old.sa_flags & SA_SIGINFO) == 0 || old.sa_sigaction != handler))
        *before = old;
}

void cc_stacks_arm(int report_fd, const struct cc_app_held *held)
{
    armed.fd = report_fd;
    armed.pid = getpid();
    armed.held = held;
    atomic_store(&armed.busy, 0);
    atomic_store(&armed.crashing, 0);
    atomic_store(&armed.asked, false);
    if (armed.alt_stack.at == NULL)
        cc_alt_stack_set(&armed.alt_stack);
    cc_stacks_threads_prepare();
    /* A crash during a report must come through, so that a damaged stack can be left. */
    for (int i = 0; i < N_CRASHES; i++)
        set(crashes[i], on_crash, SA_NODEFER, &armed.before[i]);
    set(CC_SIGNAL_ASK, on_ask, SA_RESTART, NULL);
}

void cc_stacks_ignore(void)
{
    signal(CC_SIGNAL_ASK, SIG_IGN);
}

void cc_stacks_ask(pid_t pid)
{
    kill(pid, CC_SIGNAL_ASK);
}
