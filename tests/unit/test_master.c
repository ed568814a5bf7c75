/* src/process as a whole: the tree of processes under an app that is written here, without sockets
 * and Python; looked at through /proc. */
#include "cc_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app_file.h"
#include "base/clock.h"
#include "plugin/app.h"
#include "process/process.h"

#define WORKERS    2
#define PATIENCE_S 20

/* The app loads when it is "good", and dies of SIGSEGV when it is "crash". */
static void *app_load(const void *settings, const struct cc_app_context *context,
                      struct cc_err *err)
{
    (void)settings;
    (void)context;

    if (app_is("crash")) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would turn it into an exit */
        raise(SIGSEGV);
    }
    if (app_is("good"))
        return malloc(1);
    cc_fail(err, "the app is broken");
    return NULL;
}

static void app_handle(void *app, void *thread, struct cc_request *request, struct cc_reply *reply)
{
    (void)app;
    (void)thread;
    (void)request;
    reply->end(reply, false);
}

static const struct cc_app app = {.load = app_load, .handle = app_handle, .unload = free};
static const struct cc_plugin plugin = {
    .abi = CC_ABI, .size = sizeof plugin, .kind = CC_PLUGIN_APP, .name = "test", .ops.app = &app};

static pid_t start(const struct cc_settings *settings)
{
    struct cc_loaded loaded = {.plugin = &plugin};
    struct cc_plugins plugins = {.items = &loaded, .count = 1};
    struct cc_listeners listeners = {0};
    struct cc_launch launch = {settings, &plugins, &listeners, NULL, NULL, NULL};

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(cc_process_run(&launch));
    return pid;
}

static struct cc_settings settings_of(bool lazy)
{
    return (struct cc_settings){
        .process = {.master = true, .processes = WORKERS, .lazy_apps = lazy, .worker_mercy = 5},
        .life = {.mercy = 5},
        .reload = {.mercy = 5, .overlap = true},
        .server = {.threads = 2, .max_connections = 10},
    };
}

static int children(pid_t pid, pid_t *into, int max)
{
    char path[64], text[512];
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    for (char *at = text, *end; count < max; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at)
            break;
        into[count++] = (pid_t)child;
    }
    return count;
}

struct tree {
    pid_t master, generation, workers[WORKERS];
};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5 * CC_MILLISECOND_NS}, NULL);
}

static bool named(pid_t pid, const char *begin)
{
    char path[64], text[32] = "";

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    int fd = open(path, O_RDONLY);
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    return got > 0 && strncmp(text, begin, strlen(begin)) == 0;
}

/* Waits until the master has one generation (not the one given) with all of its workers (not the
 * one given). */
static struct tree wait_tree(pid_t master, pid_t not_generation, pid_t not_worker)
{
    int64_t deadline = cc_clock_ns() + PATIENCE_S * CC_SECOND_NS;

    for (; cc_clock_ns() < deadline; nap()) {
        struct tree tree = {.master = master};
        pid_t generations[8], workers[8];
        if (children(master, generations, 8) != 1 || generations[0] == not_generation ||
            children(generations[0], workers, 8) != WORKERS || !named(generations[0], "cc-app"))
            continue;
        bool right = true;
        for (int i = 0; i < WORKERS; i++) {
            right = right && workers[i] != not_worker && named(workers[i], "cc-worker");
            tree.workers[i] = workers[i];
        }
        tree.generation = generations[0];
        if (right)
            return tree;
    }
    fail_msg("the tree of processes does not come about");
    return (struct tree){0};
}

static void wait_gone(pid_t pid)
{
    int64_t deadline = cc_clock_ns() + PATIENCE_S * CC_SECOND_NS;

    for (; cc_clock_ns() < deadline; nap()) {
        while (waitpid(pid, NULL, WNOHANG) > 0) /* orphans come to us */
            continue;
        if (kill(pid, 0) != 0)
            return;
    }
    fail_msg("process %d does not go", (int)pid);
}

static void wait_tree_gone(const struct tree *tree)
{
    wait_gone(tree->generation);
    for (int i = 0; i < WORKERS; i++)
        wait_gone(tree->workers[i]);
}

static int exit_code(pid_t master)
{
    int64_t deadline = cc_clock_ns() + PATIENCE_S * CC_SECOND_NS;
    int status;

    for (; cc_clock_ns() < deadline; nap())
        if (waitpid(master, &status, WNOHANG) == master)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    kill(master, SIGKILL);
    fail_msg("the master does not end");
    return -1;
}

/* No orphan may come to us: the master waits for all. */
static void assert_alone(void)
{
    pid_t pids[8];

    assert_int_equal(children(getpid(), pids, 8), 0);
}

static void ends_on(int signal, bool lazy)
{
    struct cc_settings settings = settings_of(lazy);

    set_app("good");
    pid_t master = start(&settings);
    struct tree tree = wait_tree(master, 0, 0);
    kill(master, signal);
    assert_int_equal(exit_code(master), CC_EXIT_OK);
    assert_alone();
    wait_tree_gone(&tree);
}

static void signals_end_everything(void **state)
{
    (void)state;
    for (int lazy = 0; lazy < 2; lazy++) {
        ends_on(SIGTERM, lazy);
        ends_on(SIGINT, lazy);
        ends_on(SIGQUIT, lazy);
    }
}

static void killed_processes_are_replaced(void **state)
{
    (void)state;
    for (int lazy = 0; lazy < 2; lazy++) {
        struct cc_settings settings = settings_of(lazy);
        set_app("good");
        pid_t master = start(&settings);
        struct tree one = wait_tree(master, 0, 0);

        kill(one.workers[1], SIGKILL);
        struct tree two = wait_tree(master, 0, one.workers[1]);
        assert_int_equal(two.generation, one.generation);

        kill(two.workers[0], SIGTERM);
        two = wait_tree(master, 0, two.workers[0]);
        assert_int_equal(two.generation, one.generation);

        kill(two.generation, SIGKILL);
        struct tree three = wait_tree(master, two.generation, 0);
        wait_tree_gone(&two);

        kill(three.generation, SIGTERM);
        struct tree four = wait_tree(master, three.generation, 0);
        wait_tree_gone(&three);

        kill(master, SIGKILL);
        assert_int_equal(exit_code(master), -SIGKILL);
        wait_tree_gone(&four);
        assert_alone();
    }
}

/* As a terminal's ^C and systemd's stop have it: everybody gets the signal. */
static void a_signal_to_all_ends_in_good_order(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    (void)state;

    for (int i = 0; i < 2; i++) {
        struct cc_settings settings = settings_of(false);
        set_app("good");
        pid_t master = start(&settings);
        struct tree tree = wait_tree(master, 0, 0);
        kill(tree.workers[0], signals[i]);
        kill(tree.workers[1], signals[i]);
        kill(tree.generation, signals[i]);
        kill(master, signals[i]);
        assert_int_equal(exit_code(master), CC_EXIT_OK);
        assert_alone();
    }
}

static void a_reload_takes_the_new_and_spares_the_old_from_the_broken(void **state)
{
    static const char *const broken[] = {"broken", "crash"};
    (void)state;

    for (int lazy = 0; lazy < 2; lazy++) {
        struct cc_settings settings = settings_of(lazy);
        set_app("good");
        pid_t master = start(&settings);
        struct tree one = wait_tree(master, 0, 0);
        kill(master, SIGHUP);
        struct tree two = wait_tree(master, one.generation, 0);
        wait_tree_gone(&one);
        for (int i = 0; i < 2; i++) {
            set_app(broken[i]);
            kill(master, SIGHUP);
            /* Until the new one was there and is gone. */
            pid_t pids[8];
            int64_t deadline = cc_clock_ns() + PATIENCE_S * CC_SECOND_NS;
            while (children(master, pids, 8) < 2 && cc_clock_ns() < deadline)
                continue;
            while (children(master, pids, 8) > 1 && cc_clock_ns() < deadline)
                nap();
            struct tree still = wait_tree(master, 0, 0);
            assert_int_equal(still.generation, two.generation);
            assert_int_equal(still.workers[0], two.workers[0]);
        }
        set_app("good");
        kill(master, SIGHUP);
        wait_tree(master, two.generation, 0);
        kill(master, SIGTERM);
        assert_int_equal(exit_code(master), CC_EXIT_OK);
        assert_alone();
    }
}

static void need_app_ends_the_start(void **state)
{
    static const char *const broken[] = {"broken", "crash"};
    (void)state;

    for (int i = 0; i < 3; i++) {
        struct cc_settings settings = settings_of(i == 2);
        settings.process.need_app = true;
        set_app(broken[i % 2]);
        assert_int_equal(exit_code(start(&settings)), CC_EXIT_NO_APP);
        assert_alone();
    }
    struct cc_settings settings = settings_of(false);
    settings.process.master = false;
    settings.process.need_app = true;
    set_app("broken");
    assert_int_equal(exit_code(start(&settings)), CC_EXIT_NO_APP);
}

static void without_need_app_it_serves_and_a_reload_mends_it(void **state)
{
    (void)state;
    for (int lazy = 0; lazy < 2; lazy++) {
        struct cc_settings settings = settings_of(lazy);
        set_app("broken");
        pid_t master = start(&settings);
        struct tree one = wait_tree(master, 0, 0);
        set_app("good");
        kill(master, SIGHUP);
        wait_tree(master, one.generation, 0);
        kill(master, SIGTERM);
        assert_int_equal(exit_code(master), CC_EXIT_OK);
        assert_alone();
    }
}

static void a_folder_that_is_not_there_ends_the_start(void **state)
{
    char nowhere[] = "/nowhere";
    (void)state;

    for (int master = 0; master < 2; master++) {
        struct cc_settings settings = settings_of(false);
        settings.process.master = master;
        settings.process.chdir = nowhere;
        set_app("good");
        assert_int_equal(exit_code(start(&settings)), CC_EXIT_SYSTEM);
        assert_alone();
    }
}

static int begin_all(void **state)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return app_file_make(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_end_everything),
        cmocka_unit_test(killed_processes_are_replaced),
        cmocka_unit_test(a_signal_to_all_ends_in_good_order),
        cmocka_unit_test(a_reload_takes_the_new_and_spares_the_old_from_the_broken),
        cmocka_unit_test(need_app_ends_the_start),
        cmocka_unit_test(without_need_app_it_serves_and_a_reload_mends_it),
        cmocka_unit_test(a_folder_that_is_not_there_ends_the_start),
    };
    return cmocka_run_group_tests(tests, begin_all, app_file_remove);
}
