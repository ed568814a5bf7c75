/* src/process: one generation as its master sees it: what it does with each message, and that a
 * worker that says anything to it harms nobody. This process is the master. */
#include "cc_test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app_file.h"
#include "base/clock.h"
#include "plugin/app.h"
#include "process/channel.h"
#include "process/generation.h"
#include "server/server.h"

#define WORKERS    2
#define ROWS_MAX   (8 * WORKERS)
#define PATIENCE_S 20

/* Whom a hostile worker names. */
static pid_t victim;

/* The app is "good", "broken", or "hostile" in worker 1. */
static void *app_load(const void *settings, const struct cc_app_context *context,
                      struct cc_err *err)
{
    (void)settings;
    (void)context;
    if (!app_is("broken"))
        return malloc(1);
    cc_fail(err, "the app is broken");
    return NULL;
}

/* Everything to everybody: all kinds, all numbers, all sizes. */
static void say_anything(int fd)
{
    int32_t words[8];

    for (int i = 0; i < 5000; i++) {
        for (size_t j = 0; j < sizeof words / sizeof words[0]; j++)
            words[j] = (int32_t)random();
        words[0] = i % 40 - 10;
        words[2] = (int32_t)victim;
        send(fd, words, sizeof(struct cc_message), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    send(fd, words, 3, MSG_DONTWAIT | MSG_NOSIGNAL);
    send(fd, words, sizeof words, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void *app_thread_begin(void *app, int worker, int thread)
{
    (void)app;
    for (int fd = 3; fd < 256 && worker == 1 && thread == 0 && app_is("hostile"); fd++) {
        int type = 0;
        socklen_t len = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET)
            say_anything(fd);
    }
    return NULL;
}

static void app_handle(void *app, void *thread, struct cc_request *request, struct cc_reply *reply)
{
    (void)app;
    (void)thread;
    (void)request;
    reply->end(reply, false);
}

static const struct cc_app app = {
    .load = app_load, .thread_begin = app_thread_begin, .handle = app_handle, .unload = free};
static const struct cc_plugin plugin = {
    .abi = CC_ABI, .size = sizeof plugin, .kind = CC_PLUGIN_APP, .name = "test", .ops.app = &app};

struct fixture {
    struct cc_settings settings;
    struct cc_scoreboard *board;
    pid_t pid;
    int channel;
    bool ready;
    pid_t rows[ROWS_MAX];   /* by row - 1 */
    int workers[ROWS_MAX];  /* the number of who is there */
    int order[64], started; /* numbers, as they were started */
};

static struct fixture start(bool lazy)
{
    struct fixture f = {
        .settings = {.process = {.master = true,
                                 .processes = WORKERS,
                                 .lazy_apps = lazy,
                                 .worker_mercy = 5},
                     .life = {.mercy = 5},
                     .server = {.threads = 2, .max_connections = 10}},
    };
    int ends[2];

    f.board = cc_scoreboard_new(cc_generation_rows(&f.settings), 2);
    assert_true(cc_channel_open(ends));
    fflush(NULL);
    f.pid = fork();
    if (f.pid == 0) {
        struct cc_loaded loaded = {.plugin = &plugin};
        struct cc_plugins plugins = {.items = &loaded, .count = 1};
        struct cc_listeners listeners = {0};
        struct cc_launch launch = {
            .settings = &f.settings, .plugins = &plugins, .listeners = &listeners};
        struct cc_generation_setup setup = {
            .launch = &launch, .board = f.board, .number = 1, .channel = ends[1]};
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(cc_generation_run(&setup));
    }
    close(ends[1]);
    f.channel = ends[0];
    return f;
}

static void hear(struct fixture *f)
{
    struct cc_message message;
    struct pollfd poller = {.fd = f->channel, .events = POLLIN};

    poll(&poller, 1, 10);
    while (cc_channel_receive(f->channel, &message) == CC_RECEIVED) {
        if (message.kind == CC_MESSAGE_READY)
            f->ready = true;
        if (message.kind != CC_MESSAGE_STARTED && message.kind != CC_MESSAGE_ENDED)
            continue;
        assert_in_range(message.worker, 1, f->board->rows);
        bool started = message.kind == CC_MESSAGE_STARTED;
        f->rows[message.worker - 1] = started ? message.pid : 0;
        if (started) {
            f->workers[message.worker - 1] = message.status;
            f->order[f->started++ % 64] = message.status;
        }
    }
}

static int count(const struct fixture *f)
{
    int alive = 0;

    for (int i = 0; i < ROWS_MAX; i++)
        alive += f->rows[i] != 0;
    return alive;
}

static pid_t pid_of(const struct fixture *f, int worker)
{
    for (int i = 0; i < ROWS_MAX; i++)
        if (f->rows[i] != 0 && f->workers[i] == worker)
            return f->rows[i];
    return 0;
}

/* Until so many live, and so many were started in all. */
static void wait_for(struct fixture *f, int alive, int started)
{
    int64_t deadline = cc_clock_ns() + PATIENCE_S * CC_SECOND_NS;

    while (count(f) != alive || f->started < started) {
        hear(f);
        if (cc_clock_ns() > deadline)
            fail_msg("%d live and %d were started, and not %d and %d", count(f), f->started, alive,
                     started);
    }
    assert_int_equal(f->started, started);
}

static void say(const struct fixture *f, enum cc_message_kind kind)
{
    assert_true(cc_channel_send(f->channel, (struct cc_message){.kind = kind}));
}

static void end(struct fixture *f, enum cc_message_kind kind)
{
    int64_t deadline = cc_clock_ns() + PATIENCE_S * CC_SECOND_NS;
    int status = -1;

    say(f, kind);
    while (waitpid(f->pid, &status, WNOHANG) == 0) {
        hear(f);
        if (cc_clock_ns() > deadline)
            fail_msg("the generation does not end");
    }
    assert_int_equal(status, 0);
    hear(f);
    assert_int_equal(count(f), 0);
    close(f->channel);
    cc_scoreboard_free(f->board);
}

static void wait_ready(struct fixture *f)
{
    int64_t deadline = cc_clock_ns() + PATIENCE_S * CC_SECOND_NS;
    while (!f->ready && cc_clock_ns() < deadline)
        hear(f);
    assert_true(f->ready);
}

static void begin(struct fixture *f)
{
    wait_for(f, WORKERS, WORKERS);
    wait_ready(f);
}

static void all_are_replaced_at_once_or_in_a_chain(void **state)
{
    static const enum cc_message_kind kinds[] = {CC_MESSAGE_RECYCLE, CC_MESSAGE_CHAIN};
    (void)state;

    for (int lazy = 0; lazy < 2; lazy++)
        for (int i = 0; i < 2; i++) {
            set_app("good");
            struct fixture f = start(lazy);
            begin(&f);
            pid_t one = pid_of(&f, 1), two = pid_of(&f, 2);
            say(&f, kinds[i]);
            wait_for(&f, WORKERS, 2 * WORKERS);
            assert_int_equal(f.order[2], 1);
            assert_int_equal(f.order[3], 2);
            assert_true(pid_of(&f, 1) != one && pid_of(&f, 2) != two);
            assert_true(pid_of(&f, 1) != 0 && pid_of(&f, 2) != 0);
            end(&f, CC_MESSAGE_STOP);
        }
}

static void a_broken_app_ends_the_replacing_and_nothing_else(void **state)
{
    static const enum cc_message_kind kinds[] = {CC_MESSAGE_RECYCLE, CC_MESSAGE_CHAIN};
    (void)state;

    for (int i = 0; i < 2; i++) {
        set_app("good");
        struct fixture f = start(true);
        begin(&f);
        pid_t one = pid_of(&f, 1), two = pid_of(&f, 2);
        set_app("broken");
        say(&f, kinds[i]);
        /* At once both are tried, in a chain the first alone; none again. */
        wait_for(&f, WORKERS, WORKERS + (i == 0 ? WORKERS : 1));
        for (int turn = 0; turn < 150; turn++)
            hear(&f);
        wait_for(&f, WORKERS, WORKERS + (i == 0 ? WORKERS : 1));
        assert_true(kill(one, 0) == 0 && kill(two, 0) == 0);
        set_app("good");
        end(&f, CC_MESSAGE_STOP);
    }
}

static void their_number_is_changed_by_hand(void **state)
{
    (void)state;
    set_app("good");
    struct fixture f = start(false);

    begin(&f);
    say(&f, CC_MESSAGE_MORE); /* there are as many as there may be */
    say(&f, CC_MESSAGE_FEWER);
    wait_for(&f, 1, 2);
    say(&f, CC_MESSAGE_FEWER); /* one is the least */
    say(&f, CC_MESSAGE_PAUSE);
    say(&f, CC_MESSAGE_RESUME);
    say(&f, CC_MESSAGE_MORE);
    wait_for(&f, 2, 3);
    say(&f, CC_MESSAGE_CHEAP);
    wait_for(&f, 0, 3);
    say(&f, CC_MESSAGE_FEWER);
    say(&f, CC_MESSAGE_CHEAP);
    say(&f, CC_MESSAGE_MORE);
    wait_for(&f, 1, 4);
    end(&f, CC_MESSAGE_STOP_NOW);
}

static void numbers_that_mean_nothing_are_ignored(void **state)
{
    (void)state;
    set_app("good");
    struct fixture f = start(false);

    begin(&f);
    for (int kind = -5; kind < 100; kind++)
        if (kind < CC_MESSAGE_STOP || kind > CC_MESSAGE_LOG_REOPEN)
            cc_channel_send(f.channel, (struct cc_message){.kind = kind, .worker = kind});
    say(&f, CC_MESSAGE_RECYCLE);
    wait_for(&f, WORKERS, 2 * WORKERS);
    end(&f, CC_MESSAGE_STOP);
}

static void a_hostile_worker_harms_nobody(void **state)
{
    (void)state;
    victim = fork();
    if (victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    set_app("hostile");
    struct fixture f = start(false);
    /* Not begin(): worker 1 may have been replaced any number of times by now. */
    wait_ready(&f);
    pid_t other = pid_of(&f, 2);
    /* Its own seat it may give up as often as it says so; the other one's it may not. */
    int64_t deadline = cc_clock_ns() + 2 * CC_SECOND_NS;
    while (cc_clock_ns() < deadline)
        hear(&f);
    assert_int_equal(pid_of(&f, 2), other);
    assert_int_equal(kill(other, 0), 0);
    assert_int_equal(waitpid(victim, NULL, WNOHANG), 0);
    end(&f, CC_MESSAGE_STOP);
    kill(victim, SIGKILL);
    waitpid(victim, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_replaced_at_once_or_in_a_chain),
        cmocka_unit_test(a_broken_app_ends_the_replacing_and_nothing_else),
        cmocka_unit_test(their_number_is_changed_by_hand),
        cmocka_unit_test(numbers_that_mean_nothing_are_ignored),
        cmocka_unit_test(a_hostile_worker_harms_nobody),
    };
    return cmocka_run_group_tests(tests, app_file_make, app_file_remove);
}
