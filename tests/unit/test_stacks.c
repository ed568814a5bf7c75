/* src/process: reports on stacks, from a child in each of its predicaments to its parent. */
#include "cc_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alt_stack.h"
#include "base/clock.h"
#include "process/report.h"
#include "process/spawn.h"
#include "process/stacks.h"

/* A child that says on up when it is where it should be, and its report as we collect it. */
struct child {
    struct ev_loop *loop;
    struct cc_report report;
    pid_t pid;
    int up[2], report_fd;
};

static void app_dump(void *app, int fd)
{
    static const char text[] = "the app's own stacks\n";
    ssize_t written = write(fd, text, sizeof text - 1);

    (void)app;
    (void)written;
}

static const struct cc_app fake_app = {.dump_stacks = app_dump};
static struct cc_app_held held = {.app = &fake_app};

static void say_there(const struct child *child)
{
    assert_int_equal(write(child->up[1], "x", 1), 1);
}

static void begin(struct child *child, void (*body)(struct child *))
{
    char byte;

    child->loop = ev_loop_new(EVFLAG_NOENV);
    assert_int_equal(pipe(child->up), 0);
    assert_true(cc_report_open(&child->report, child->loop, &child->report_fd));
    child->pid = cc_spawn("cc-test-child");
    assert_true(child->pid >= 0);
    if (child->pid == 0) {
        /* A sanitizer's handlers would turn a crash into an exit. */
        static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
        for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
            signal(crashes[i], SIG_DFL);
        cc_stacks_arm(child->report_fd, &held);
        body(child);
        _exit(0);
    }
    close(child->report_fd);
    close(child->up[1]);
    assert_int_equal(read(child->up[0], &byte, 1), 1);
}

static const char *wait_report(struct child *child)
{
    int64_t until = cc_clock_ns() + 20 * CC_SECOND_NS;

    while (!cc_report_done(&child->report) && cc_clock_ns() < until)
        ev_run(child->loop, EVRUN_ONCE);
    assert_true(cc_report_done(&child->report));
    return cc_report_text(&child->report);
}

static void clear(struct child *child)
{
    cc_report_close(&child->report);
    ev_loop_destroy(child->loop);
    close(child->up[0]);
}

/* Its end by this signal. */
static void expect_killed(struct child *child, int number)
{
    int status;

    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), number);
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in the report:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" in the report:\n%s", part, text);
}

/* -- Threads of a child -- */

static void *wait_named(void *name)
{
    sigset_t all;

    prctl(PR_SET_NAME, name);
    sigfillset(&all);
    if (strcmp(name, "cc-deaf") == 0)
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (;;)
        pause();
    return NULL;
}

static void start(const char *name)
{
    char comm[32];
    pthread_t id;
    int found = 0;

    assert_int_equal(pthread_create(&id, NULL, wait_named, (void *)(uintptr_t)name), 0);
    /* Until it has its name, which comes before the rest that matters; and sleeps. */
    while (found == 0) {
        assert_int_equal(pthread_getname_np(id, comm, sizeof comm), 0);
        found = strcmp(comm, name) == 0;
        usleep(1000);
    }
}

static void three_threads(struct child *child)
{
    start("cc-deaf");
    start("cc-sleeper");
    say_there(child);
    for (;;)
        pause();
}

static void all_threads_tell_where_they_are(void **state)
{
    struct child child;
    (void)state;

    begin(&child, three_threads);
    for (int round = 0; round < 3; round++) {
        cc_report_reset(&child.report);
        cc_stacks_ask(child.pid);
        const char *text = wait_report(&child);
        has(text, "the app's own stacks");
        has(text, "\"cc-test-child\" (0x");
        has(text, "\"cc-sleeper\" (0x");
        has(text, "pause+0x");
        has(text, "libc.so.6+0x");
        has(text, "\"cc-deaf\": it blocks the signal");
        has_not(text, CC_STACKS_END);
        has_not(text, "damaged");
    }
    kill(child.pid, SIGKILL);
    expect_killed(&child, SIGKILL);
    clear(&child);
}

static void a_child_that_does_not_answer_is_seen_from_outside(void **state)
{
    struct cc_buf buf = {0};
    struct child child;
    int status;
    (void)state;

    begin(&child, three_threads);
    kill(child.pid, SIGSTOP);
    assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
    cc_stacks_from_outside(child.pid, &buf);
    has(cc_buf_text(&buf), "\"cc-test-child\": state T (stopped)");
    has(cc_buf_text(&buf), "\"cc-sleeper\": state T (stopped)");
    kill(child.pid, SIGKILL);
    expect_killed(&child, SIGKILL);
    cc_buf_clear(&buf);
    cc_stacks_from_outside(child.pid, &buf);
    has(cc_buf_text(&buf), "No such file or directory");
    cc_buf_clear(&buf);
    clear(&child);
}

static void asked_too_early(struct child *child)
{
    cc_stacks_ignore();
    say_there(child);
    for (;;)
        pause();
}

static void one_that_is_not_armed_lives_on(void **state)
{
    struct child child;
    (void)state;

    begin(&child, asked_too_early);
    for (int i = 0; i < 10; i++)
        cc_stacks_ask(child.pid);
    kill(child.pid, SIGKILL);
    expect_killed(&child, SIGKILL);
    cc_report_read(&child.report);
    assert_string_equal(cc_report_text(&child.report), "");
    clear(&child);
}

/* -- Crashes -- */

static void write_nowhere(struct child *child)
{
    /* Not NULL, which a sanitizer would see before the machine does. */
    volatile int *volatile nowhere = (volatile int *)(uintptr_t)16;

    say_there(child);
    *nowhere = 1;
}

static void call_abort(struct child *child)
{
    say_there(child);
    abort();
}

/* Deeper than any stack; what it returns keeps the calls from becoming a loop. */
static int __attribute__((noinline)) sink(volatile int *depth)
{
    volatile char frame[4096];

    frame[0] = (char)++*depth;
    return *depth < 0 ? 0 : sink(depth) + frame[0];
}

static void *overflow(void *data)
{
    struct cc_alt_stack stack;
    volatile int depth = 0;

    (void)data;
    prctl(PR_SET_NAME, "cc-deep");
    cc_alt_stack_set(&stack);
    sink(&depth);
    return NULL;
}

static void overflow_in_thread(struct child *child)
{
    pthread_t id;

    say_there(child);
    pthread_create(&id, NULL, overflow, NULL);
    pthread_join(id, NULL);
}

static void overflow_in_main(struct child *child)
{
    volatile int depth = 0;

    say_there(child);
    sink(&depth);
}

static void *crash_too(void *data)
{
    (void)data;
    abort();
}

static void crash_all_at_once(struct child *child)
{
    pthread_t id;

    say_there(child);
    for (int i = 0; i < 8; i++)
        pthread_create(&id, NULL, crash_too, NULL);
    pthread_join(id, NULL);
}

static void damage_stack(struct child *child)
{
    say_there(child);
    /* The frame pointers of all callers lead nowhere; the unwinder may notice or crash itself. */
#if defined(__x86_64__)
    __asm__ volatile("movq $16, %%rbp\n\tmovq $4096, %%rsp\n\tmovl $0, (16)" ::: "memory");
#else
    abort();
#endif
}

/* ThreadSanitizer wraps the handlers, and keeps a stack of its own beside the thread's that is full
 * first: what ruins the stack never comes to us there. */
static bool ruins_stack(void (*body)(struct child *))
{
    return body == overflow_in_thread || body == overflow_in_main || body == damage_stack;
}

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN true
#else
#define UNDER_TSAN false
#endif

static void crashes_tell_and_take_their_course(void **state)
{
    static const struct {
        void (*body)(struct child *);
        int number;
        const char *first, *thread;
    } cases[] = {
        {write_nowhere, SIGSEGV, "Crash: SIGSEGV at address 0x10, in thread ", "cc-test-child"},
        {call_abort, SIGABRT, "Crash: SIGABRT, raised by the process itself", "cc-test-child"},
        {overflow_in_thread, SIGSEGV, "Crash: SIGSEGV at address 0x", "cc-deep"},
        {overflow_in_main, SIGSEGV, "Crash: SIGSEGV at address 0x", "cc-test-child"},
        {crash_all_at_once, SIGABRT, "Crash: SIGABRT", "cc-test-child"},
        {damage_stack, SIGSEGV, "Crash: SIGSEGV at address 0x10", "cc-test-child"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct child child;
        if (UNDER_TSAN && ruins_stack(cases[i].body))
            continue;
        begin(&child, cases[i].body);
        expect_killed(&child, cases[i].number);
        cc_report_read(&child.report);
        assert_true(cc_report_done(&child.report));
        const char *text = cc_report_text(&child.report);
        assert_memory_equal(text, cases[i].first, strlen(cases[i].first));
        has(text, cases[i].thread);
        has(text, "the app's own stacks");
        has(text, "Native stack of thread");
        clear(&child);
    }
}

static int chained_fd;

static void app_handler(int number)
{
    ssize_t written = write(chained_fd, "the app's handler ran\n", 22);
    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

static void crash_with_handler_before(struct child *child)
{
    chained_fd = child->report_fd;
    signal(SIGSEGV, app_handler);
    cc_stacks_arm(child->report_fd, &held);
    cc_stacks_arm(child->report_fd, &held); /* again, as after a fork: that is not its own */
    write_nowhere(child);
}

static struct sigaction given_back;

/* As Python's faulthandler: puts back what was there before it and raises again. */
static void app_handler_that_gives_back(int number)
{
    ssize_t written = write(chained_fd, "the app's handler ran\n", 22);
    (void)written;
    sigaction(number, &given_back, NULL);
    raise(number);
}

static void crash_with_handler_between(struct child *child)
{
    struct sigaction action = {.sa_handler = app_handler_that_gives_back, .sa_flags = SA_NODEFER};

    chained_fd = child->report_fd;
    sigaction(SIGSEGV, &action, &given_back); /* ours, of the generation */
    cc_stacks_arm(child->report_fd, &held);
    write_nowhere(child);
}

static void a_handler_between_two_of_ours_runs_once(void **state)
{
    static const char ran[] = "the app's handler ran\n";
    struct child child;
    (void)state;

    begin(&child, crash_with_handler_between);
    expect_killed(&child, SIGSEGV);
    cc_report_read(&child.report);
    const char *text = cc_buf_text(&child.report.text);
    has(text, CC_STACKS_END "\nthe app's handler ran\n");
    assert_null(strstr(strstr(text, ran) + 1, ran));
    clear(&child);
}

static void the_apps_handler_runs_too(void **state)
{
    struct child child;
    (void)state;

    begin(&child, crash_with_handler_before);
    expect_killed(&child, SIGSEGV);
    cc_report_read(&child.report);
    has(cc_buf_text(&child.report.text), "Crash: SIGSEGV at address 0x10");
    has(cc_buf_text(&child.report.text), CC_STACKS_END "\nthe app's handler ran\n");
    clear(&child);
}

static void crash_in_a_fork(struct child *child)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        abort();
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    say_there(child);
    for (;;)
        pause();
}

static void what_it_forks_reports_nothing(void **state)
{
    struct child child;
    (void)state;

    begin(&child, crash_in_a_fork);
    cc_report_read(&child.report);
    assert_string_equal(cc_report_text(&child.report), "");
    kill(child.pid, SIGKILL);
    expect_killed(&child, SIGKILL);
    clear(&child);
}

/* -- The parent's side -- */

static void write_much(struct child *child)
{
    static char bytes[5000];

    say_there(child);
    memset(bytes, 'a', sizeof bytes);
    bytes[0] = 27;
    for (int i = 0; i < 1000; i++)
        if (write(child->report_fd, bytes, sizeof bytes) < 0)
            _exit(1);
    for (;;)
        pause();
}

static void a_report_has_an_end(void **state)
{
    struct child child;
    (void)state;

    begin(&child, write_much);
    const char *text = wait_report(&child);
    assert_int_equal(strlen(text), CC_REPORT_MAX);
    assert_int_equal(text[0], '?');
    assert_null(strchr(text, 27));
    kill(child.pid, SIGKILL);
    expect_killed(&child, SIGKILL);
    clear(&child);
}

static void closing_is_harmless(void **state)
{
    struct cc_report report = {0};
    (void)state;

    cc_report_read(&report);
    assert_false(cc_report_done(&report));
    assert_string_equal(cc_report_text(&report), "");
    cc_report_close(&report);
    cc_report_close(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_tell_where_they_are),
        cmocka_unit_test(a_child_that_does_not_answer_is_seen_from_outside),
        cmocka_unit_test(one_that_is_not_armed_lives_on),
        cmocka_unit_test(crashes_tell_and_take_their_course),
        cmocka_unit_test(the_apps_handler_runs_too),
        cmocka_unit_test(a_handler_between_two_of_ours_runs_once),
        cmocka_unit_test(what_it_forks_reports_nothing),
        cmocka_unit_test(a_report_has_an_end),
        cmocka_unit_test(closing_is_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
