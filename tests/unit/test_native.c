/* plugins/native: the smallest app plugin, opened as the host opens it. */
#include "cc_test.h"

#include <string.h>

#include "app_host.h"

static struct app_host host;

static void ask(struct answer *answer, const char *path, const char *query, const char *body)
{
    const char *const vars[] = {path, query, NULL};

    app_host_ask(&host, host.thread,
                 &(struct ask){.vars = vars, .body = body, .body_in_file = query[0] == 'F'},
                 answer);
}

#define assert_events(text) assert_string_equal(cc_buf_text(&answer.events), text)
#define assert_body(text)   assert_string_equal(cc_buf_text(&answer.body), text)

static void says_hello(void **state)
{
    struct answer answer;
    (void)state;

    answer_init(&answer);
    ask(&answer, "PATH_INFO=/", "QUERY_STRING=", NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(cc_buf_text(&answer.headers), "Content-Type: text/plain\n");
    assert_body("Hello World!");
    assert_events("head body(12,last) end(whole)");
    answer_clear(&answer);
}

static void echoes_the_body(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        struct answer answer;
        answer_init(&answer);
        ask(&answer, "PATH_INFO=/echo", file ? "FILE=1" : "MEMORY=1", "the body");
        assert_body("the body");
        assert_int_equal(answer.length, 8);
        assert_events("head body(8) end(whole)");
        answer_clear(&answer);
    }
}

static void streams_lines(void **state)
{
    struct answer answer;
    (void)state;

    answer_init(&answer);
    answer.slow = true;
    ask(&answer, "PATH_INFO=/stream", "QUERY_STRING=n=2", NULL);
    assert_body("line 1 of 2\nline 2 of 2\n");
    assert_int_equal(answer.length, -1);
    assert_events("head body(12) drain body(12) drain end(whole)");
    answer_clear(&answer);
    answer_init(&answer);
    answer.gone_after = 1;
    ask(&answer, "PATH_INFO=/stream", "QUERY_STRING=n=5", NULL);
    assert_events("head body(12) body(12) end(cut)");
    answer_clear(&answer);
}

static void sleeps(void **state)
{
    struct answer answer;
    (void)state;

    answer_init(&answer);
    ask(&answer, "PATH_INFO=/sleep", "QUERY_STRING=ms=5", NULL);
    assert_body("slept 5 ms\n");
    answer_clear(&answer);
}

static void knows_nothing_else(void **state)
{
    struct answer answer;
    (void)state;

    answer_init(&answer);
    ask(&answer, "PATH_INFO=/other", "QUERY_STRING=", NULL);
    assert_int_equal(answer.status, 404);
    assert_true(answer.whole);
    answer_clear(&answer);
}

static int start(void **state)
{
    (void)state;
    app_host_open(&host, "native");
    return app_host_load(&host, 1, 4) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    app_host_close(&host);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_hello),         cmocka_unit_test(echoes_the_body),
        cmocka_unit_test(streams_lines),      cmocka_unit_test(sleeps),
        cmocka_unit_test(knows_nothing_else),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
