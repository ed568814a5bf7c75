/* What the master reads of its children, with children that lie: garbage and floods in place of
 * messages, others' pids, a scribbled scoreboard. */
#include "cc_test.h"

#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/channel.h"
#include "process/generations.h"
#include "process/harakiri.h"
#include "process/master_state.h"

static struct cc_settings settings = {.process.processes = 3, .server.threads = 2};
static struct cc_launch launch = {.settings = &settings};
static struct cc_generations all;

static int set_up(void **state)
{
    (void)state;
    cc_generations_init(&all, ev_loop_new(EVFLAG_NOENV));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (struct cc_link *link = all.list.next; link != &all.list; link = link->next) {
        struct cc_generation *one = CC_CONTAINER(link, struct cc_generation, link);
        cc_generation_kill(one);
        if (one->pid != 0)
            waitpid(one->pid, NULL, 0);
    }
    cc_generations_clear(&all, NULL);
    ev_loop_destroy(all.loop);
    return 0;
}

/* A generation that runs act(channel) in place of an app, and then sleeps until it is killed. */
static struct cc_generation *start(void (*act)(int channel))
{
    struct cc_generation_setup born;
    struct cc_generation *one = cc_generations_start(&all, &launch, &born);

    if (born.number == 0) {
        assert_non_null(one);
        return one;
    }
    act(born.channel);
    for (;;)
        pause();
}

static void say(int channel, enum cc_message_kind kind, int worker, pid_t pid)
{
    cc_channel_send(channel, (struct cc_message){.kind = kind, .worker = worker, .pid = pid});
}

static void be_silent(int channel)
{
    (void)channel;
}

static bool alive(pid_t pid)
{
    siginfo_t info = {0};

    return kill(pid, 0) == 0 &&
           (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0);
}

/* Reads until it is killed for what it says. */
static void expect_killed(struct cc_generation *one)
{
    int64_t deadline = cc_clock_ns() + 20 * CC_SECOND_NS;
    int status = 0;

    while (waitpid(one->pid, &status, WNOHANG) == 0) {
        assert_true(cc_clock_ns() < deadline);
        cc_generation_listen(one);
        nanosleep(&(struct timespec){.tv_nsec = CC_MILLISECOND_NS}, NULL);
    }
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cc_generation_bereave(one);
    cc_generations_bury(&all);
    assert_true(cc_link_alone(&all.list));
}

static void send_short(int channel)
{
    say(channel, CC_MESSAGE_LOADED, 0, 0);
    send(channel, "abc", 3, 0);
}

static void send_nothing(int channel)
{
    send(channel, "", 0, 0);
}

static void send_long(int channel)
{
    char bytes[sizeof(struct cc_message) + 1] = {CC_MESSAGE_READY};

    send(channel, bytes, sizeof bytes, 0);
}

static void what_is_no_message_costs_the_life(void **state)
{
    (void)state;
    expect_killed(start(send_short));
    expect_killed(start(send_nothing));
    expect_killed(start(send_long));
}

static void end_in_good_order(int channel)
{
    say(channel, CC_MESSAGE_LOADED, 0, 0);
    close(channel);
    _exit(22);
}

/* The end of the channel is no nonsense: the exit code tells what happened. */
static void an_end_is_an_end(void **state)
{
    int status = 0;
    (void)state;
    struct cc_generation *one = start(end_in_good_order);

    while (waitpid(one->pid, &status, WNOHANG) == 0)
        cc_generation_listen(one);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 22);
    cc_generation_listen(one);
    assert_true(one->loaded);
    cc_generation_bereave(one);
}

static void flood(int channel)
{
    for (;;)
        say(channel, CC_MESSAGE_LOADED, 0, 0);
}

static void a_flood_does_not_keep_us(void **state)
{
    (void)state;
    struct cc_generation *one = start(flood);

    while (!one->loaded)
        cc_generation_listen(one);
    for (int i = 0; i < 100; i++)
        cc_generation_listen(one); /* returns */
    assert_true(alive(one->pid));
}

/* Pids that are not to be signalled, made before the generation that names them. */
static pid_t sibling, stranger;

static void name_others(int channel)
{
    const pid_t pids[] = {0, -1, 1, getppid(), -getppid(), sibling, stranger, INT32_MIN, INT32_MAX};

    for (size_t i = 0; i < sizeof pids / sizeof *pids; i++)
        say(channel, CC_MESSAGE_STARTED, (int)(i % 3) + 1, pids[i]);
    for (int i = 0; i < 3; i++)
        say(channel, CC_MESSAGE_STARTED, i + 1, i == 0 ? sibling : i == 1 ? stranger : -1);
    _exit(0);
}

/* A process that is no child of ours. */
static pid_t make_stranger(void)
{
    int ends[2];
    pid_t pid = 0;

    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        pid = fork();
        if (pid != 0 && write(ends[1], &pid, sizeof pid) != sizeof pid)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %*c %d", &parent), 1);
    fclose(file);
    return parent;
}

static void nobody_else_is_signalled(void **state)
{
    (void)state;
    sibling = start(be_silent)->pid;
    stranger = make_stranger();
    pid_t strange_parent = parent_of(stranger);
    struct cc_generation *liar = start(name_others);

    assert_int_equal(waitpid(liar->pid, NULL, 0), liar->pid);
    cc_generation_listen(liar);
    for (int i = 0; i < liar->n_workers; i++)
        assert_true(liar->workers[i] == 0 || liar->workers[i] == stranger);
    cc_generation_bereave(liar);
    assert_true(alive(sibling));
    assert_true(alive(stranger));
    assert_true(alive(strange_parent));
    cc_generations_bury(&all);
    assert_ptr_equal(all.list.next->next, &all.list); /* the sibling's is left */
    kill(stranger, SIGKILL);
    kill(strange_parent, SIGKILL);
    waitpid(strange_parent, NULL, 0);
}

static void babble(int channel)
{
    unsigned seed = 1;

    for (int i = 0; i < 20000; i++) {
        struct cc_message message = {
            .kind = rand_r(&seed) % 40 - 5,
            .worker = rand_r(&seed) % 4 == 0 ? rand_r(&seed) : rand_r(&seed) % 10 - 3,
            .pid = -(rand_r(&seed) % 100000),
            .status = rand_r(&seed),
        };
        while (send(channel, &message, sizeof message, MSG_NOSIGNAL) < 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    }
    _exit(0);
}

static void babbling_changes_nothing_else(void **state)
{
    int status = 0;
    (void)state;
    struct cc_generation *one = start(babble);

    while (waitpid(one->pid, &status, WNOHANG) == 0)
        cc_generation_listen(one);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < one->n_workers; i++)
        assert_int_equal(one->workers[i], 0); /* no pid was one of a process */
    cc_generation_bereave(one);
    cc_generations_bury(&all);
    assert_true(cc_link_alone(&all.list));
}

/* The bytes that any process below us can write, in patterns that are the worst for a reader. */
static void scribble(struct cc_scoreboard *board, unsigned seed)
{
    unsigned char *bytes = (unsigned char *)board->shared;

    for (size_t i = 0; i < board->bytes; i++)
        bytes[i] = seed == 0   ? 0xff
                   : seed == 1 ? 0x80
                   : seed == 2 ? 'x'
                               : (unsigned char)rand_r(&seed);
}

static void a_scribbled_board_is_read_safely(void **state)
{
    (void)state;
    struct cc_scoreboard *board = cc_scoreboard_new(4, 3);

    assert_non_null(board);
    for (unsigned seed = 0; seed < 200; seed++) {
        pid_t pid = fork();
        if (pid == 0) {
            scribble(board, seed);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        cc_scoreboard_requests(board, 0);
        for (int row = 1; row <= 4; row++) {
            struct cc_running running = cc_harakiri_oldest(board, row);
            assert_true(strlen(running.what) < sizeof running.what);
            assert_true(running.since_ns >= 0);
            for (const char *at = running.what; *at != '\0'; at++)
                assert_true(*at >= 0x20 && *at < 0x7f);
        }
        assert_int_equal(board->rows, 4);
        assert_int_equal(board->threads, 3);
    }
    cc_scoreboard_free(board);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_message_costs_the_life), TEST(an_end_is_an_end),
        TEST(a_flood_does_not_keep_us),          TEST(nobody_else_is_signalled),
        TEST(babbling_changes_nothing_else),     cmocka_unit_test(a_scribbled_board_is_read_safely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
