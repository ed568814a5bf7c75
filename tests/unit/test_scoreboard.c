/* src/stats: what one process writes another reads, and nobody writes over somebody else. */
#include "cc_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/harakiri.h"
#include "stats/scoreboard.h"

static void slots_are_apart_and_aligned(void **state)
{
    struct cc_scoreboard *board = cc_scoreboard_new(3, 5);
    const struct cc_slot *before = NULL;
    (void)state;

    assert_non_null(board);
    for (int w = 1; w <= 3; w++) {
        for (int t = 0; t < 5; t++) {
            const struct cc_slot *slot = cc_scoreboard_slot(board, w, t);
            assert_int_equal((uintptr_t)slot % 64, 0);
            assert_true(before == NULL || slot == before + 1);
            before = slot;
        }
    }
    assert_true((const char *)(before + 1) <= (const char *)board->shared + board->bytes);
    cc_scoreboard_free(board);
    cc_scoreboard_free(NULL);
}

static void a_child_counts_and_the_parent_reads(void **state)
{
    struct cc_scoreboard *board = cc_scoreboard_new(2, 2);
    int status;
    (void)state;

    for (int w = 1; w <= 2; w++) {
        if (fork() != 0)
            continue;
        for (int i = 0; i < 1000 * w; i++)
            atomic_fetch_add_explicit(&cc_scoreboard_slot(board, w, i % 2)->requests, 1,
                                      memory_order_relaxed);
        _exit(0);
    }
    while (wait(&status) > 0)
        assert_int_equal(status, 0);
    assert_int_equal(cc_scoreboard_requests(board, 1), 1000);
    assert_int_equal(cc_scoreboard_requests(board, 2), 2000);
    assert_int_equal(cc_scoreboard_requests(board, 0), 3000);
    cc_scoreboard_reset_row(board, 2, 7);
    assert_int_equal(cc_scoreboard_requests(board, 2), 0);
    assert_int_equal(cc_scoreboard_slot(board, 2, 1)->worker, 7);
    assert_int_equal(cc_scoreboard_requests(board, 0), 3000); /* they were answered all the same */
    cc_scoreboard_free(board);
}

static void run(struct cc_scoreboard *board, int worker, int thread, int64_t since,
                const char *what)
{
    struct cc_slot *slot = cc_scoreboard_slot(board, worker, thread);

    snprintf(slot->method_uri, sizeof slot->method_uri, "%s", what);
    atomic_store(&slot->started_ns, since);
}

static void the_oldest_request_is_found(void **state)
{
    struct cc_scoreboard *board = cc_scoreboard_new(2, 3);
    (void)state;

    assert_int_equal(cc_harakiri_oldest(board, 1).since_ns, 0);
    run(board, 1, 0, 300, "GET /young");
    run(board, 1, 1, 100, "GET /old\n\x1b\xff");
    run(board, 1, 2, 200, "GET /middle");
    run(board, 2, 0, 50, "GET /other");
    struct cc_running oldest = cc_harakiri_oldest(board, 1);
    assert_int_equal(oldest.since_ns, 100);
    assert_string_equal(oldest.what, "GET /old???");
    /* A worker that was killed while it wrote leaves no NUL. */
    memset(cc_scoreboard_slot(board, 2, 0)->method_uri, 'x', 128);
    assert_int_equal(strlen(cc_harakiri_oldest(board, 2).what), 127);
    cc_scoreboard_reset_row(board, 1, 0);
    assert_int_equal(cc_harakiri_oldest(board, 1).since_ns, 0);
    assert_int_equal(cc_harakiri_oldest(board, 2).since_ns, 50);
    cc_scoreboard_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_apart_and_aligned),
        cmocka_unit_test(a_child_counts_and_the_parent_reads),
        cmocka_unit_test(the_oldest_request_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
