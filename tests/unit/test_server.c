/* src/server with a line protocol and a C app over an abstract unix socket: every way a connection
 * can go, with one thread and with four. Built with --enable-sanitizers=thread this is the test of
 * who may touch what. */
#include "cc_test.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "line_protocol.h"
#include "server/server.h"

#define BIG ((size_t)3 << 20)

static char health_path[] = "/health";

/* -- the app -- */

static char *big_body;
static int file_fd;
static atomic_int cut_short; /* answers that found their peer gone */

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, (ms % 1000) * 1000000L}, NULL);
}

static void answer_in_pieces(struct cc_reply *reply)
{
    enum cc_sent sent = CC_SENT;
    bool there = true;

    for (size_t at = 0; at < BIG && there; at += 65536) {
        sent = reply->body(reply, big_body + at, 65536, false);
        there = sent != CC_SENT_GONE && (sent == CC_SENT || reply->drain(reply));
    }
    if (!there)
        cut_short++;
    reply->end(reply, there);
}

static void *answer_later(void *argument)
{
    struct cc_reply *reply = argument;
    pause_ms(5);
    reply->body(reply, "later", 5, true);
    reply->end(reply, true);
    return NULL;
}

static void handle(void *app, void *thread, struct cc_request *request, struct cc_reply *reply)
{
    bool cut = cc_span_equal(request->uri, CC_SPAN("too long")) ||
               cc_span_equal(request->uri, CC_SPAN("too long a file"));
    const struct cc_response response = {.status = 200, .length = cut ? 5 : -1};
    pthread_t later;
    (void)app;
    (void)thread;

    if (cc_span_equal(request->uri, CC_SPAN("silent"))) {
        reply->end(reply, false);
        return;
    }
    if (cc_span_equal(request->uri, CC_SPAN("no final status"))) {
        reply->head(reply, &(struct cc_response){.status = 103, .length = -1});
        reply->end(reply, reply->body(reply, "hints", 5, true) != CC_SENT_GONE);
        return;
    }
    reply->head(reply, &response);
    if (cc_span_equal(request->uri, CC_SPAN("slow")))
        pause_ms(30);
    if (cc_span_equal(request->uri, CC_SPAN("very slow")))
        pause_ms(1500);
    if (cc_span_equal(request->uri, CC_SPAN("later"))) {
        pthread_create(&later, NULL, answer_later, reply);
        pthread_detach(later);
    } else if (cc_span_equal(request->uri, CC_SPAN("big"))) {
        reply->body(reply, big_body, BIG, true);
        reply->end(reply, true);
    } else if (cc_span_equal(request->uri, CC_SPAN("pieces"))) {
        answer_in_pieces(reply);
    } else if (cc_span_equal(request->uri, CC_SPAN("file"))) {
        reply->end(reply, reply->file(reply, file_fd, 0, 0) == (int64_t)BIG);
    } else if (cc_span_equal(request->uri, CC_SPAN("too long a file"))) {
        reply->end(reply, reply->file(reply, file_fd, 0, 0) > 0);
    } else if (cc_span_equal(request->uri, CC_SPAN("too long"))) {
        reply->body(reply, "too", 3, false);
        reply->body(reply, " long", 5, false);
        reply->body(reply, "!", 1, true);
        reply->end(reply, true);
    } else if (cc_span_equal(request->uri, CC_SPAN("empty"))) {
        reply->end(reply, true);
    } else {
        reply->body(reply, request->uri.at, request->uri.len, true);
        reply->end(reply, true);
    }
}

static const struct cc_app app = {.handle = handle};

/* -- a server in this process -- */

struct fixture {
    struct cc_server_settings settings;
    struct cc_listener listener;
    struct cc_listeners listeners;
    struct cc_server_setup setup;
    struct cc_lobby lobby;
    struct cc_server *server;
    struct sockaddr_un address;
    socklen_t address_len;
    pthread_t thread;
    ev_async stop, pause;
    _Atomic(enum cc_successor) successor;
    atomic_bool paused;
};

static void *serve(void *argument)
{
    cc_server_run(((struct fixture *)argument)->server);
    return NULL;
}

static void on_stop(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop;
    (void)events;
    struct fixture *f = watcher->data;
    cc_server_stop(f->server, f->successor);
}

static void on_pause(struct ev_loop *loop, ev_async *watcher, int events)
{
    struct fixture *f = watcher->data;
    (void)loop;
    (void)events;
    cc_server_pause(f->server, f->paused);
}

static void *nothing_to_serve(void *argument)
{
    return argument;
}

static void worn_out(void *data)
{
    struct fixture *f = data;
    ev_async_send(cc_server_loop(f->server), &f->stop);
}

static struct fixture *start(int threads, int64_t max_requests, bool with_app)
{
    static int count;
    static char nothing;
    struct fixture *f = cc_alloc_zeroed(1, sizeof *f);

    f->settings = (struct cc_server_settings){.threads = threads,
                                              .post_buffering = 4096,
                                              .head_timeout = 1,
                                              .body_timeout = 1,
                                              .keepalive_timeout = 30,
                                              .send_timeout = 30,
                                              .stream_timeout = 30,
                                              .health_path = health_path,
                                              .max_connections = 1000};
    f->address.sun_family = AF_UNIX;
    int len = snprintf(f->address.sun_path + 1, sizeof f->address.sun_path - 1, "cc-test-%d-%d",
                       (int)getpid(), count++);
    f->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    f->listener.protocol = &line_protocol;
    f->listener.address.kind = CC_ADDRESS_ABSTRACT;
    f->listener.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->listener.fd, (struct sockaddr *)&f->address, f->address_len), 0);
    assert_int_equal(listen(f->listener.fd, 512), 0);
    f->listeners = (struct cc_listeners){&f->listener, 1};
    f->setup = (struct cc_server_setup){.settings = &f->settings,
                                        .listeners = &f->listeners,
                                        .app = &app,
                                        .app_state = with_app ? &nothing : NULL,
                                        .board = cc_scoreboard_new(1, threads),
                                        .worker = 1,
                                        .row = 1,
                                        .max_requests = max_requests,
                                        .worn_out = worn_out,
                                        .data = f};
    assert_true(cc_lobby_open(&f->lobby, true));
    f->setup.lobby = &f->lobby;
    f->server = cc_server_new(&f->setup);
    ev_async_init(&f->stop, on_stop);
    f->stop.data = f;
    ev_async_start(cc_server_loop(f->server), &f->stop);
    ev_async_init(&f->pause, on_pause);
    f->pause.data = f;
    ev_async_start(cc_server_loop(f->server), &f->pause);
    pthread_create(&f->thread, NULL, serve, f);
    return f;
}

static void end_of(struct fixture *f)
{
    pthread_join(f->thread, NULL);
    cc_server_free(f->server);
    cc_scoreboard_free(f->setup.board);
    close(f->listener.fd);
    cc_lobby_close(&f->lobby);
    free(f);
}

static void stop(struct fixture *f)
{
    ev_async_send(cc_server_loop(f->server), &f->stop);
    end_of(f);
}

/* -- a client -- */

static int dial(const struct fixture *f)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {20, 0};

    assert_int_equal(connect(fd, (const struct sockaddr *)&f->address, f->address_len), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_true(cc_fd_write_all(fd, text, strlen(text)));
}

/* Reads answers until count of them have ended, or the connection has. The caller frees it. */
static char *hear(int fd, int count, size_t *len)
{
    struct cc_buf got = {0};

    while (count > 0) {
        char *to = cc_buf_reserve(&got, 65536);
        ssize_t n = read(fd, to, 65536);
        if (n <= 0)
            break;
        size_t from = got.len < 2 ? 0 : got.len - 2;
        got.len += (size_t)n;
        for (size_t i = from; i + 3 <= got.len; i++)
            if (memcmp(got.at + i, "\n.\n", 3) == 0)
                count--;
    }
    cc_buf_text(&got);
    *len = got.len;
    return got.at;
}

static void expect(int fd, const char *ask, int count, const char *answer)
{
    size_t len;

    say(fd, ask);
    char *got = hear(fd, count, &len);
    assert_string_equal(got, answer);
    free(got);
}

static void expect_big(int fd, const char *ask)
{
    size_t len;

    say(fd, ask);
    char *got = hear(fd, 1, &len);
    assert_int_equal(len, 4 + BIG + 3);
    assert_memory_equal(got + 4, big_body, BIG);
    free(got);
}

static void expect_cut_file(int fd)
{
    size_t len;

    say(fd, "too long a file\n");
    char *got = hear(fd, 1, &len);
    assert_int_equal(len, 4 + 5 + 3);
    assert_memory_equal(got + 4, big_body, 5);
    free(got);
}

/* -- tests -- */

static void each_request_gets_its_answer(struct fixture *f)
{
    int fd = dial(f);

    expect(fd, "a\n", 1, "200 a\n.\n");
    expect(fd, "empty\n", 1, "200 \n.\n");
    expect(fd, "b\nc\nd\n", 3, "200 b\n.\n200 c\n.\n200 d\n.\n");
    expect(fd, "slow\nafter\n", 2, "200 slow\n.\n200 after\n.\n");
    expect(fd, "later\nnow\n", 2, "200 later\n.\n200 now\n.\n");
    expect_big(fd, "big\n");
    expect_big(fd, "pieces\n");
    expect_big(fd, "file\n");
    for (int i = 0; i < 200; i++)
        expect(fd, "e\n", 1, "200 e\n.\n");
    expect(fd, "too long\ng\n", 2, "200 too l\n.\n200 g\n.\n");
    expect_cut_file(fd);
    say(fd, "hal");
    pause_ms(2);
    expect(fd, "f\n", 1, "200 half\n.\n");
    expect(fd, "quit\n", 2, "200 quit\n.\n");
    close(fd);
}

static void no_head_is_a_500_and_a_close(struct fixture *f)
{
    int fd = dial(f);

    expect(fd, "silent\n", 2, "500 Internal Server Error\n.\n");
    close(fd);
    fd = dial(f);
    expect(fd, "no final status\n", 2, "500 Internal Server Error\n.\n");
    close(fd);
}

static void bad_input_is_refused_and_closed(struct fixture *f)
{
    char line[202];
    int fd = dial(f);

    memset(line, 'x', 200);
    line[200] = '\0';
    expect(fd, line, 2, "400 the line is too long\n.\n");
    close(fd);
    fd = dial(f);
    say(fd, "half");
    shutdown(fd, SHUT_WR);
    expect(fd, "", 2, "400 the connection ended in the middle of a request\n.\n");
    close(fd);
    fd = dial(f);
    expect(fd, "half", 2, "408 the request did not come in time\n.\n");
    close(fd);
}

static void peers_that_leave_harm_nobody(struct fixture *f)
{
    for (int i = 0; i < 20; i++) {
        const char *asks[] = {"big\n", "pieces\n", "file\n", "slow\n", "later\n", "half"};
        int fd = dial(f);
        say(fd, asks[i % 6]);
        if (i % 2 == 0)
            pause_ms(1);
        close(fd);
    }
    int fd = dial(f);
    expect(fd, "still here\n", 1, "200 still here\n.\n");
    close(fd);
}

/* A reader that takes nothing holds neither a thread nor the loop. */
static void a_slow_reader_holds_no_thread(struct fixture *f)
{
    int slow[8];

    for (int i = 0; i < 8; i++) {
        slow[i] = dial(f);
        say(slow[i], i % 2 == 0 ? "big\n" : "file\n");
    }
    int fd = dial(f);
    for (int i = 0; i < 50; i++)
        expect(fd, "x\n", 1, "200 x\n.\n");
    close(fd);
    for (int i = 0; i < 8; i++) {
        expect_big(slow[i], "");
        close(slow[i]);
    }
}

static void *one_client(void *argument)
{
    struct fixture *f = argument;
    int fd = dial(f);

    for (int i = 0; i < 60; i++) {
        expect(fd, i % 20 == 0 ? "slow\n" : "q\n", 1, i % 20 == 0 ? "200 slow\n.\n" : "200 q\n.\n");
        if (i % 7 == 0) {
            close(fd);
            fd = dial(f);
        }
    }
    close(fd);
    return NULL;
}

static void many_clients_at_once(struct fixture *f)
{
    pthread_t clients[12];

    for (int i = 0; i < 12; i++)
        pthread_create(&clients[i], NULL, one_client, f);
    for (int i = 0; i < 12; i++)
        pthread_join(clients[i], NULL);
}

static void stopping_finishes_what_was_accepted(struct fixture *f)
{
    int idle = dial(f), busy = dial(f);
    size_t len;

    expect(idle, "a\n", 1, "200 a\n.\n");
    say(busy, "slow\n");
    pause_ms(5);
    stop(f);
    char *got = hear(busy, 1, &len);
    assert_string_equal(got, "200 slow\n.\n");
    free(got);
    got = hear(idle, 1, &len);
    assert_int_equal(len, 0);
    free(got);
    close(idle);
    close(busy);
}

static void ask_to_stop(struct fixture *f, enum cc_successor successor)
{
    f->successor = successor;
    ev_async_send(cc_server_loop(f->server), &f->stop);
}

/* Whether the peer has ended the connection in good order: an end and no reset. */
static bool ends_well(int fd)
{
    char byte;
    return read(fd, &byte, 1) == 0;
}

static void a_request_that_crosses_a_stop_is_answered(int threads)
{
    struct fixture *f = start(threads, 0, true);
    int kept = dial(f), silent = dial(f);

    expect(kept, "a\n", 1, "200 a\n.\n");
    expect(silent, "b\n", 1, "200 b\n.\n");
    ask_to_stop(f, CC_SUCCESSOR_WORKER);
    pause_ms(100);
    expect(kept, "c\n", 1, "200 c\n.\n");
    assert_true(ends_well(kept));
    assert_true(ends_well(silent));
    /* Too late, and still no reset: the server reads on until the client ends. */
    say(silent, "d\n");
    pause_ms(20);
    assert_true(ends_well(silent));
    close(kept);
    close(silent);
    end_of(f);
}

/* Of connections that the kernel has accepted for the server none is reset. */
static void a_stop_for_good_empties_the_listen_queue(int threads)
{
    struct fixture *f = start(threads, 0, true);
    struct sockaddr_un address = f->address;
    socklen_t address_len = f->address_len;
    int waiting[20];

    f->paused = true;
    ev_async_send(cc_server_loop(f->server), &f->pause);
    pause_ms(50);
    for (int i = 0; i < 20; i++) {
        waiting[i] = dial(f);
        say(waiting[i], "slow\n");
    }
    ask_to_stop(f, CC_SUCCESSOR_NONE);
    for (int i = 0; i < 20; i++) {
        expect(waiting[i], "", 1, "200 slow\n.\n");
        close(waiting[i]);
    }
    end_of(f);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, address_len), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
}

static void what_waits_is_left_to_a_successor(int threads)
{
    struct fixture *f = start(threads, 0, true);
    struct pollfd listener = {.fd = f->listener.fd, .events = POLLIN};

    f->paused = true;
    ev_async_send(cc_server_loop(f->server), &f->pause);
    pause_ms(50);
    int waiting = dial(f);
    ask_to_stop(f, CC_SUCCESSOR_WORKER);
    pthread_join(f->thread, NULL);
    assert_int_equal(poll(&listener, 1, 0), 1);
    pthread_create(&f->thread, NULL, nothing_to_serve, f);
    close(waiting);
    end_of(f);
}

static void a_pause_serves_what_is_there(int threads)
{
    struct fixture *f = start(threads, 0, true);
    struct pollfd answer = {.events = POLLIN};
    int before = dial(f);

    expect(before, "a\n", 1, "200 a\n.\n");
    f->paused = true;
    ev_async_send(cc_server_loop(f->server), &f->pause);
    pause_ms(50);
    answer.fd = dial(f);
    say(answer.fd, "b\n");
    expect(before, "c\n", 1, "200 c\n.\n");
    expect(before, "/health\n", 1, "503 paused\n\n.\n");
    assert_int_equal(poll(&answer, 1, 200), 0);
    f->paused = false;
    ev_async_send(cc_server_loop(f->server), &f->pause);
    expect(answer.fd, "", 1, "200 b\n.\n");
    close(before);
    close(answer.fd);
    stop(f);
}

static void expect_health(const struct fixture *f, const char *answer)
{
    int fd = dial(f);

    expect(fd, "/health\n", 1, answer);
    close(fd);
}

/* With all threads in the app, behind a listen queue that is full of others. */
static void health_is_answered_by_the_loop(int threads)
{
    struct fixture *f = start(threads, 0, true);
    int others[40];

    expect_health(f, "200 ok\n\n.\n");
    for (int i = 0; i < 40; i++) {
        others[i] = dial(f);
        say(others[i], i < threads ? "very slow\n" : "slow\n");
    }
    pause_ms(50);
    expect_health(f, "200 ok\n\n.\n");
    struct pollfd first = {.fd = others[0], .events = POLLIN};
    assert_int_equal(poll(&first, 1, 0), 0);
    for (int i = 0; i < 40; i++) {
        expect(others[i], "", 1, i < threads ? "200 very slow\n.\n" : "200 slow\n.\n");
        close(others[i]);
    }
    /* Many at once on one connection, with others between. */
    int fd = dial(f);
    expect(fd, "/health\na\n/health?x\n/healthy\n", 4,
           "200 ok\n\n.\n200 a\n.\n200 ok\n\n.\n200 /healthy\n.\n");
    close(fd);
    stop(f);
}

static void all_ways(int threads)
{
    struct fixture *f = start(threads, 0, true);

    each_request_gets_its_answer(f);
    no_head_is_a_500_and_a_close(f);
    bad_input_is_refused_and_closed(f);
    peers_that_leave_harm_nobody(f);
    a_slow_reader_holds_no_thread(f);
    many_clients_at_once(f);
    stopping_finishes_what_was_accepted(f);
    a_request_that_crosses_a_stop_is_answered(threads);
    a_stop_for_good_empties_the_listen_queue(threads);
    what_waits_is_left_to_a_successor(threads);
    a_pause_serves_what_is_there(threads);
    health_is_answered_by_the_loop(threads);
}

static void with_one_thread(void **state)
{
    (void)state;
    all_ways(1);
}

static void with_four_threads(void **state)
{
    (void)state;
    all_ways(4);
}

/* What is told so stops it here; see worn_out(). */
static void the_server_says_when_max_requests_are_answered(void **state)
{
    struct fixture *f = start(2, 10, true);
    int fd = dial(f);
    (void)state;

    for (int i = 0; i < 10; i++)
        expect(fd, "a\n", 1, "200 a\n.\n");
    end_of(f);
    close(fd);
}

/* Takes descriptors until there are none; returns how many. */
static int take_descriptors(int *taken, int most)
{
    int count = 0;

    while (count < most && (taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    return count;
}

/* Without a connection there is no tick of the loop that would end the pause by the way. */
static void it_accepts_again_when_descriptors_are_free(void **state)
{
    struct fixture *f = start(1, 0, true);
    struct rlimit old, low;
    int taken[256];
    (void)state;

    getrlimit(RLIMIT_NOFILE, &old);
    low = (struct rlimit){256, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int count = take_descriptors(taken, 256);
    assert_int_equal(connect(fd, (const struct sockaddr *)&f->address, f->address_len), 0);
    pause_ms(100);
    while (count > 0)
        close(taken[--count]);
    setrlimit(RLIMIT_NOFILE, &old);
    alarm(20); /* instead of hanging */
    expect(fd, "a\n", 1, "200 a\n.\n");
    alarm(0);
    close(fd);
    stop(f);
}

static void without_an_app_it_is_500(void **state)
{
    struct fixture *f = start(1, 0, false);
    int fd = dial(f);
    (void)state;

    expect(fd, "a\n", 2, "500 Internal Server Error\n.\n");
    close(fd);
    expect_health(f, "503 the app is not loaded\n\n.\n");
    stop(f);
}

static int make_bodies(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    big_body = cc_alloc(BIG);
    for (size_t i = 0; i < BIG; i++)
        big_body[i] = (char)('a' + i % 23);
    file_fd = cc_fd_spool();
    return cc_fd_write_all(file_fd, big_body, BIG) ? 0 : -1;
}

static int free_bodies(void **state)
{
    (void)state;
    free(big_body);
    return close(file_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_one_thread),
        cmocka_unit_test(with_four_threads),
        cmocka_unit_test(the_server_says_when_max_requests_are_answered),
        cmocka_unit_test(it_accepts_again_when_descriptors_are_free),
        cmocka_unit_test(without_an_app_it_is_500),
    };
    return cmocka_run_group_tests(tests, make_bodies, free_bodies);
}
