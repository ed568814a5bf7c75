/* src/process: the algorithms that decide how many workers there are, on loads that are simulated
 * second by second, and the lengths of real listen queues. */
#include "cc_test.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/backlog.h"
#include "process/cheaper.h"

struct simulation {
    struct cc_cheaper cheaper;
    struct cc_cheaper_settings settings;
    struct cc_cheaper_figures figures;
};

static struct simulation simulation_of(enum cc_cheaper_algorithm algorithm)
{
    return (struct simulation){
        .settings = {.algorithm = algorithm,
                     .step = 1,
                     .overload = 3,
                     .idle = 5,
                     .busyness_max = 50,
                     .busyness_min = 25,
                     .multiplier = 10,
                     .penalty = 2,
                     .backlog_alert = 33,
                     .backlog_multiplier = 3,
                     .backlog_step = 1,
                     .backlog_nonzero = 60},
        .figures = {.workers = 2, .least = 2, .most = 8, .threads = 1},
    };
}

static int ask(struct simulation *s)
{
    const char *why = NULL;
    int change = 0;

    switch ((enum cc_cheaper_algorithm)s->settings.algorithm) {
    case CC_CHEAPER_SPARE:
        change = cc_cheaper_spare(&s->cheaper, &s->settings, &s->figures, &why);
        break;
    case CC_CHEAPER_SPARE2:
        change = cc_cheaper_spare2(&s->cheaper, &s->settings, &s->figures, &why);
        break;
    case CC_CHEAPER_BACKLOG:
        change = cc_cheaper_backlog(&s->settings, &s->figures, &why);
        break;
    case CC_CHEAPER_BUSYNESS:
        change = cc_cheaper_busyness(&s->cheaper.busyness, &s->settings, &s->figures, &why);
        break;
    case CC_CHEAPER_MANUAL:
        break;
    }
    assert_true(change == 0 || why != NULL);
    return change;
}

/* Lets so many seconds pass in which load threads would be busy if there were as many; what does
 * not fit waits. Returns how often the number of workers changed. */
static int pass(struct simulation *s, int seconds, double load)
{
    int changes = 0;

    while (seconds-- > 0) {
        struct cc_cheaper_figures *f = &s->figures;
        double room = (double)f->workers * f->threads;
        f->second++;
        f->busy = load < room ? load : room;
        f->backlog = load > room ? (int)(10 * (load - room)) : 0;
        int before = f->workers;
        f->workers += ask(s);
        if (f->workers > f->most)
            f->workers = f->most;
        if (f->workers < f->least)
            f->workers = f->least;
        changes += f->workers != before;
    }
    return changes;
}

static void spare_follows_a_load_that_rises_and_falls(void **state)
{
    struct simulation s = simulation_of(CC_CHEAPER_SPARE);
    (void)state;

    pass(&s, 20, 0.5);
    assert_int_equal(s.figures.workers, 2);
    pass(&s, 2, 8);
    assert_int_equal(s.figures.workers, 2); /* not before cheaper-overload */
    pass(&s, 1, 8);
    assert_int_equal(s.figures.workers, 3);
    pass(&s, 40, 5);
    assert_in_range(s.figures.workers, 6, 7);
    assert_int_equal(pass(&s, 300, 5), 0); /* and there it stays */
    pass(&s, 100, 20);
    assert_int_equal(s.figures.workers, 8);
    pass(&s, 3, 0);
    assert_int_equal(s.figures.workers, 7); /* one at a time */
    pass(&s, 60, 0);
    assert_int_equal(s.figures.workers, 2);
}

static void spare_comes_to_rest_at_any_load(void **state)
{
    (void)state;

    for (int threads = 1; threads <= 8; threads *= 2)
        for (double load = 0; load < 10.0 * threads; load += 0.37 * threads) {
            struct simulation s = simulation_of(CC_CHEAPER_SPARE);
            s.figures.threads = threads;
            pass(&s, 100, load);
            assert_int_equal(pass(&s, 200, load), 0);
            s.figures.workers = 8;
            pass(&s, 100, load);
            assert_int_equal(pass(&s, 200, load), 0);
        }
}

static void a_step_is_taken_at_once(void **state)
{
    struct simulation s = simulation_of(CC_CHEAPER_SPARE);
    (void)state;

    s.settings.step = 3;
    pass(&s, 3, 8);
    assert_int_equal(s.figures.workers, 5);
}

static void spare2_keeps_some_spare(void **state)
{
    struct simulation s = simulation_of(CC_CHEAPER_SPARE2);
    (void)state;

    pass(&s, 1, 1);
    assert_int_equal(s.figures.workers, 3);
    s.settings.step = 4;
    pass(&s, 3, 4);
    assert_int_equal(s.figures.workers, 6);
    pass(&s, 4, 2);
    assert_int_equal(s.figures.workers, 6); /* not before cheaper-idle */
    pass(&s, 1, 2);
    assert_int_equal(s.figures.workers, 5);
    pass(&s, 100, 2);
    assert_int_equal(s.figures.workers, 4);
    assert_int_equal(pass(&s, 100, 2), 0);
}

static void backlog_follows_the_queue(void **state)
{
    struct simulation s = simulation_of(CC_CHEAPER_BACKLOG);
    (void)state;

    pass(&s, 1, 2.3); /* three wait, and three may */
    assert_int_equal(s.figures.workers, 2);
    pass(&s, 20, 6);
    assert_int_equal(s.figures.workers, 6);
    assert_int_equal(pass(&s, 100, 6), 0);
    pass(&s, 1, 1);
    assert_int_equal(s.figures.workers, 5);
    pass(&s, 10, 1);
    assert_int_equal(s.figures.workers, 2);
}

static void busyness_is_kept_between_its_limits(void **state)
{
    struct simulation s = simulation_of(CC_CHEAPER_BUSYNESS);
    (void)state;

    s.settings.overload = 10;
    pass(&s, 60, 2);
    assert_in_range(s.figures.workers, 4, 5); /* 2 of 4 are 50% */
    assert_int_equal(pass(&s, 600, 2), 0);
    pass(&s, 90, 0.1); /* multiplier * overload since the last start is long over */
    assert_in_range(s.figures.workers, 3, 4);
    pass(&s, 600, 0.1);
    assert_int_equal(s.figures.workers, 2);
}

static void busyness_learns_from_a_worker_that_was_needed_again(void **state)
{
    struct simulation s = simulation_of(CC_CHEAPER_BUSYNESS);
    (void)state;

    pass(&s, 9, 3);
    pass(&s, 51, 0.1);
    assert_int_equal(s.cheaper.busyness.multiplier, 10);
    assert_int_equal(s.figures.workers, 4);
    pass(&s, 6, 4);
    assert_int_equal(s.cheaper.busyness.multiplier, 14);
}

static void busyness_reacts_to_the_queue_at_once(void **state)
{
    struct simulation s = simulation_of(CC_CHEAPER_BUSYNESS);
    (void)state;

    s.settings.overload = 100;
    s.settings.backlog_step = 2;
    pass(&s, 1, 6);
    assert_int_equal(s.figures.workers, 4);
    assert_int_equal(s.cheaper.busyness.emergency, 2);
    /* A few wait, for a minute. */
    s = simulation_of(CC_CHEAPER_BUSYNESS);
    s.settings.overload = 100;
    pass(&s, 59, 2.2);
    assert_int_equal(s.figures.workers, 2);
    pass(&s, 1, 2.2);
    assert_int_equal(s.figures.workers, 3);
}

static int listen_on(const struct sockaddr *address, socklen_t len)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, address, len), 0);
    assert_int_equal(listen(fd, 20), 0);
    return fd;
}

static void count_clients(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    int clients[5];

    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(cc_backlog_of(fd), 0);
    for (int i = 0; i < 5; i++) {
        clients[i] = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(clients[i], (struct sockaddr *)&address, len), 0);
        assert_int_equal(cc_backlog_of(fd), i + 1);
    }
    close(accept(fd, NULL, NULL));
    assert_int_equal(cc_backlog_of(fd), 4);
    for (int i = 0; i < 5; i++)
        close(clients[i]);
    close(fd);
}

static void waiting_clients_are_counted(void **state)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    (void)state;

    count_clients(listen_on((struct sockaddr *)&in, sizeof in));
    int len = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "cc-cheaper-%d", (int)getpid());
    count_clients(listen_on((struct sockaddr *)&un,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)));
    assert_int_equal(cc_backlog_of(-1), -1);
    assert_int_equal(cc_backlog_of(STDIN_FILENO), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spare_follows_a_load_that_rises_and_falls),
        cmocka_unit_test(spare_comes_to_rest_at_any_load),
        cmocka_unit_test(a_step_is_taken_at_once),
        cmocka_unit_test(spare2_keeps_some_spare),
        cmocka_unit_test(backlog_follows_the_queue),
        cmocka_unit_test(busyness_is_kept_between_its_limits),
        cmocka_unit_test(busyness_learns_from_a_worker_that_was_needed_again),
        cmocka_unit_test(busyness_reacts_to_the_queue_at_once),
        cmocka_unit_test(waiting_clients_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
