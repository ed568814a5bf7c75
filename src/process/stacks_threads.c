/* See stacks_threads.h. Each thread has a place in a table; it is asked by setting the place to
 * WANTED and sending the signal, and answers by filling it. A thread that answers when nobody waits
 * any more finds its place not wanted and does nothing. */
#include "process/stacks_threads.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "process/stacks_signals.h"
#include "process/stacks_symbols.h"

#define MOST_THREADS 256
#define MOST_FRAMES  64
/* Frames of the handler and of what it calls, which come before the thread's own. */
#define MOST_OF_OURS 8
/* How long all threads together have for their answers. */
#define PATIENCE_MS 300

enum state { IDLE, WANTED, TAKEN, TOLD };

struct stack {
    uintptr_t thread; /* pthread_self(), by which Python calls its threads */
    int count;
    bool damaged;
    uintptr_t frames[MOST_FRAMES];
};

struct place {
    _Atomic int state;  /* enum state; the asker moves it to WANTED and IDLE, the thread the rest */
    int tid;            /* the asker's; read by threads while WANTED */
    struct stack stack; /* the thread's while TAKEN, the asker's once TOLD */
};

/* Too large for a signal's stack, and threads must find it without an argument. Used by the one
 * report that runs at a time. */
static struct place places[MOST_THREADS];

/* Set while this thread walks a stack: where to go when that crashes. */
static _Thread_local sigjmp_buf *volatile rescue;

void cc_stacks_recover(void)
{
    sigjmp_buf *to = rescue;

    if (to == NULL)
        return;
    rescue = NULL;
    siglongjmp(*to, 1);
}

static int own_tid(void)
{
    return (int)syscall(SYS_gettid);
}

/* 0: not known on this machine. */
static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Drops the frames of the handler. */
static void keep_own(struct stack *stack, void *const *raw, int count, uintptr_t pc)
{
    int first = 0;

    for (int i = 0; i < count && i < MOST_OF_OURS; i++)
        if (pc != 0 && (uintptr_t)raw[i] == pc)
            first = i;
    if (first == 0 && pc != 0) /* it is nowhere that a stack can be walked from */
        stack->frames[stack->count++] = pc;
    for (int i = first; i < count && stack->count < MOST_FRAMES; i++)
        stack->frames[stack->count++] = (uintptr_t)raw[i];
}

/* Of the calling thread. Not inlined: the frames of ours have to be few and known. */
static void __attribute__((noinline)) walk(struct stack *stack, const ucontext_t *context)
{
    void *raw[MOST_FRAMES + MOST_OF_OURS];
    sigjmp_buf back;

    stack->thread = (uintptr_t)pthread_self();
    stack->count = 0;
    stack->damaged = false;
    if (sigsetjmp(back, 1) != 0) {
        stack->damaged = true;
        if (stack->count == 0)
            stack->frames[stack->count++] = interrupted_at(context);
        return;
    }
    rescue = &back;
    int count = backtrace(raw, MOST_FRAMES + MOST_OF_OURS);
    rescue = NULL;
    keep_own(stack, raw, count, interrupted_at(context));
}

static void on_wanted(int number, siginfo_t *info, void *context)
{
    int saved = errno, tid = own_tid();
    (void)number;
    (void)info;

    for (int i = 0; i < MOST_THREADS; i++) {
        struct place *place = &places[i];
        int wanted = WANTED;
        if (atomic_load(&place->state) != WANTED || place->tid != tid ||
            !atomic_compare_exchange_strong(&place->state, &wanted, TAKEN))
            continue;
        walk(&place->stack, context);
        atomic_store(&place->state, TOLD);
        break;
    }
    errno = saved;
}

void cc_stacks_threads_prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_wanted,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    void *frames[2];

    sigemptyset(&action.sa_mask);
    sigaction(CC_SIGNAL_TELL, &action, NULL);
    /* The first call loads the unwinder, which a handler must not. */
    backtrace(frames, 2);
    cc_stacks_symbols_prepare();
}

static void put_thread_head(struct cc_stacks_text *text, int tid, uintptr_t thread)
{
    char name[32];
    size_t len = cc_stacks_read_task(tid, "comm", name, sizeof name);

    while (len > 0 && name[len - 1] == '\n')
        len--;
    cc_stacks_put(text, "Native stack of thread ");
    cc_stacks_put_number(text, (uint64_t)tid);
    cc_stacks_put(text, " \"");
    cc_stacks_put_bytes(text, name, len);
    cc_stacks_put(text, "\"");
    if (thread != 0) {
        /* As Python writes it, so that the two stacks of a thread can be put side by side. */
        cc_stacks_put(text, " (");
        cc_stacks_put_hex(text, thread, 16);
        cc_stacks_put(text, ")");
    }
}

static void put_stack(struct cc_stacks_text *text, int tid, const struct stack *stack)
{
    put_thread_head(text, tid, stack->thread);
    cc_stacks_put(text, ":\n");
    for (int i = 0; i < stack->count; i++) {
        sigjmp_buf back;
        cc_stacks_put(text, "  #");
        cc_stacks_put_number(text, (uint64_t)i);
        cc_stacks_put(text, i < 10 ? "  " : " ");
        cc_stacks_put_hex(text, stack->frames[i], 16);
        cc_stacks_put(text, " ");
        if (sigsetjmp(back, 1) == 0) {
            rescue = &back;
            cc_stacks_put_symbol(text, stack->frames[i], i > 0);
            rescue = NULL;
        }
        cc_stacks_put(text, "\n");
    }
    if (stack->damaged)
        cc_stacks_put(text, "  the stack is damaged: it cannot be walked any further\n");
    else if (stack->count == MOST_FRAMES)
        cc_stacks_put(text, "  ... more frames\n");
    cc_stacks_flush(text);
}

void cc_stacks_put_own(struct cc_stacks_text *text, void *context)
{
    struct stack stack;

    walk(&stack, context);
    put_stack(text, own_tid(), &stack);
}

static int parse_number(const char *digits)
{
    int number = 0;

    while (*digits >= '0' && *digits <= '9')
        number = number * 10 + (*digits++ - '0');
    return number;
}

/* The first place from here on that can be used. One that a thread of an earlier report has not
 * finished with is left to it. */
static int next_free(int place)
{
    while (place < MOST_THREADS && atomic_load(&places[place].state) != IDLE)
        places[place++].tid = 0;
    return place;
}

/* Asks every other thread; the number of places used, and *more of threads that had none. */
static int ask_all(int *more)
{
    char entries[2048];
    int asked = 0, self = own_tid(), pid = (int)getpid();
    int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got = 0;

    *more = 0;
    while (folder >= 0 && (got = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            int tid = parse_number(entry->d_name);
            at += entry->d_reclen;
            if (tid == 0 || tid == self)
                continue;
            asked = next_free(asked);
            if (asked == MOST_THREADS) {
                ++*more;
                continue;
            }
            places[asked].tid = tid;
            atomic_store(&places[asked].state, WANTED);
            syscall(SYS_tgkill, pid, tid, CC_SIGNAL_TELL);
            asked++;
        }
    if (folder >= 0)
        close(folder);
    return asked;
}

static void wait_for_all(int asked)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int told = 0;

    for (int ms = 0; ms < PATIENCE_MS && told < asked; ms++) {
        told = 0;
        for (int i = 0; i < asked; i++)
            told += places[i].tid == 0 || atomic_load(&places[i].state) == TOLD;
        if (told < asked)
            nanosleep(&moment, NULL);
    }
}

/* The value of a field of /proc/self/task/TID/status, which begins after its colon; NULL: none. */
static const char *status_field(const char *status, const char *name)
{
    const char *at = strstr(status, name);

    return at == NULL ? NULL : at + strlen(name) + strspn(at + strlen(name), " \t");
}

static bool blocks_signal(const char *status)
{
    const char *mask = status_field(status, "\nSigBlk:");
    uint64_t bits = 0;

    for (; mask != NULL && *mask != '\n' && *mask != '\0'; mask++)
        bits = bits << 4 | (uint64_t)(*mask <= '9' ? *mask - '0' : *mask - 'a' + 10);
    return (bits >> (CC_SIGNAL_TELL - 1) & 1) != 0;
}

static void put_silent(struct cc_stacks_text *text, int tid)
{
    char status[2048];

    if (cc_stacks_read_task(tid, "status", status, sizeof status) == 0)
        return; /* it has ended meanwhile */
    const char *state = status_field(status, "\nState:");
    put_thread_head(text, tid, 0);
    if (blocks_signal(status))
        cc_stacks_put(text, ": it blocks the signal that asks for it");
    else
        cc_stacks_put(text, ": it does not answer");
    if (state != NULL) {
        cc_stacks_put(text, "; its state is ");
        cc_stacks_put_bytes(text, state, strcspn(state, "\n"));
    }
    cc_stacks_put(text, "\n");
    cc_stacks_flush(text);
}

void cc_stacks_put_others(struct cc_stacks_text *text)
{
    int more, asked = ask_all(&more);

    wait_for_all(asked);
    for (int i = 0; i < asked; i++) {
        struct place *place = &places[i];
        int wanted = WANTED;
        if (place->tid != 0 && atomic_load(&place->state) == TOLD)
            put_stack(text, place->tid, &place->stack);
        else if (place->tid != 0)
            put_silent(text, place->tid);
        /* Not where it is TAKEN: the thread writes there now, or may yet. */
        if (!atomic_compare_exchange_strong(&place->state, &wanted, IDLE) && wanted == TOLD)
            atomic_store(&place->state, IDLE);
    }
    if (more > 0) {
        cc_stacks_put(text, "and ");
        cc_stacks_put_number(text, (uint64_t)more);
        cc_stacks_put(text, " more threads\n");
        cc_stacks_flush(text);
    }
}
