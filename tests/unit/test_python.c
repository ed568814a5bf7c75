/* plugins/python: what an app answers, through a reply that records. */
#include "cc_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_app.h"

static void answers_hello(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        ask("hello", "");
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.reason, "OK");
        assert_string_equal(cc_buf_text(&answer.headers), "Content-Type: text/plain\n");
        assert_body("Hello World!");
        assert_int_equal(answer.length, 12);
        assert_false(answer.length_is_header);
        assert_events("head body(12,last) end(whole)");
        assert_string_equal(cc_buf_text(&answer.log), "");
    }
}

static void lists_are_sent_with_their_length(void **state)
{
    (void)state;
    ask("chunks", "");
    assert_events("head body(2) body(3,last) end(whole)");
    assert_body("abcde");
    assert_int_equal(answer.length, 5);
    ask("result", "[]");
    assert_events("head end(whole)");
    assert_int_equal(answer.length, 0);
    ask("result", "[b'']");
    assert_events("head end(whole)");
    assert_int_equal(answer.length, 0);
    ask("result", "(b'tuple',)");
    assert_events("head body(5,last) end(whole)");
    ask("result", "b'bytes as they are'");
    assert_events("head body(17,last) end(whole)");
}

static void generators_are_sent_piece_by_piece(void **state)
{
    (void)state;
    ask("what_was_called", "");
    ask("generator", "");
    assert_events("head body(3) body(3) end(whole)");
    assert_body("onetwo");
    assert_int_equal(answer.length, -1);
    ask("result", "iter([])");
    assert_events("head end(whole)");
    assert_int_equal(answer.length, 0);
    ask("result", "iter([b'', b''])");
    assert_events("head end(whole)");
    /* The client is gone after the first piece: the second is not even made. */
    ask("what_was_called", "");
    answer.gone_after = 0;
    ask("generator", "");
    assert_events("head body(3) end(cut)");
    ask("what_was_called", "");
    assert_body("first");
}

static void slow_clients_are_waited_for(void **state)
{
    (void)state;
    answer.slow = true;
    ask("generator", "");
    assert_events("head body(3) drain body(3) drain end(whole)");
    answer.slow = true;
    answer.gone_after = 1;
    ask("generator", "");
    assert_events("head body(3) drain end(cut)");
}

static void close_is_always_called(void **state)
{
    static const char *const paths[] = {"closing", "closing_fails", "closing_fails_first",
                                        "closing_fails_close", "closing_wrong_type"};
    static const char *const events[] = {"head body(1) body(1) body(1) end(whole)",
                                         "head body(1) end(cut)", "end(cut)",
                                         "head body(1) end(whole)", "end(cut)"};
    static const char *const logs[] = {"", "in the middle", "in the middle", "in close",
                                       "must be bytes, not str"};
    (void)state;

    ask("what_was_called", "");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        ask(paths[i], "");
        assert_events(events[i]);
        assert_holds(&answer.log, logs[i]);
        ask("what_was_called", "");
        assert_body("close");
    }
    answer.gone_after = 1;
    ask("closing", "");
    assert_events("head body(1) body(1) end(cut)");
    ask("what_was_called", "");
    assert_body("close");
}

static void write_sends(void **state)
{
    (void)state;
    ask("write", "");
    assert_events("head body(10) body(7,last) end(whole)");
    assert_body("by write, by list");
    assert_int_equal(answer.length, -1);
    ask("write_wrong", "");
    assert_failed("write()'s argument must be bytes, not str");
    answer.gone_after = 0;
    ask("write", "");
    assert_events("head body(10) end(cut)");
    assert_string_equal(cc_buf_text(&answer.log), "");
}

static void exc_info_rules(void **state)
{
    (void)state;
    ask("exc_info_before", "");
    assert_int_equal(answer.status, 500);
    assert_string_equal(answer.reason, "Failed");
    assert_string_equal(cc_buf_text(&answer.headers), "X-Second: 2\n");
    assert_body("replaced");
    ask("exc_info_after", "");
    assert_events("head body(4) end(cut)");
    assert_holds(&answer.log, "ValueError: too late");
    ask("start_twice", "");
    assert_failed("without exc_info");
    ask("no_start", "");
    assert_failed("without a call of start_response()");
    ask("no_start_empty", "");
    assert_failed("without a call of start_response()");
}

static void refused(const char *arguments, const char *why)
{
    ask("evaluate", arguments);
    assert_failed(why);
}

static void heads_are_checked(void **state)
{
    (void)state;
    refused("'200 OK', [('Connection', 'close')]", "hop-by-hop");
    refused("'200 OK', [('keep-alive', '5')]", "hop-by-hop");
    refused("'200 OK', [('Proxy-Authenticate', 'x')]", "hop-by-hop");
    refused("'200 OK', [('Proxy-Authorization', 'x')]", "hop-by-hop");
    refused("'200 OK', [('TE', 'x')]", "hop-by-hop");
    refused("'200 OK', [('Trailers', 'x')]", "hop-by-hop");
    refused("'200 OK', [('Transfer-ENCODING', 'chunked')]", "hop-by-hop");
    refused("'200 OK', [('Upgrade', 'x')]", "hop-by-hop");
    refused("'200 OK', [('X', 'a\\r\\nSet-Cookie: b')]", "control character");
    refused("'200 OK', [('X', 'a long value and then a line\\n')]", "control character");
    refused("'200 OK', [('X', 'a\\0')]", "control character");
    refused("'200 OK', [('X', '12345678\\x7f')]", "control character");
    refused("'200 OK', [('X\\r\\nY', 'a')]", "not a header name");
    refused("'200 OK', [('X ', 'a')]", "not a header name");
    refused("'200 OK', [('X:', 'a')]", "not a header name");
    refused("'200 OK', [('', 'a')]", "not a header name");
    refused("'200 OK', [('\\xe4', 'a')]", "not a header name");
    refused("'200 OK', [('X', '\\u20ac')]", "latin-1");
    refused("'200 OK', [(b'X', 'a')]", "must be a str, not bytes");
    refused("'200 OK', [('X', 1)]", "must be a str, not int");
    refused("'200 OK', [('X', None)]", "must be a str, not NoneType");
    refused("'200 OK', [['X', 'a']]", "must be a tuple");
    refused("'200 OK', [('X', 'a', 'b')]", "must be a tuple");
    refused("'200 OK', (('X', 'a'),)", "must be a list");
    refused("'200 OK', {'X': 'a'}", "must be a list");
    refused("'200 OK', [('Content-Length', 'x')]", "number of bytes");
    refused("'200 OK', [('Content-Length', '-1')]", "number of bytes");
    refused("'200 OK', [('Content-Length', '1'), ('content-length', '2')]", "twice");
    refused("b'200 OK', []", "status must be a str");
    refused("200, []", "status must be a str");
    refused("'OK', []", "the status must be a number");
    refused("'20 OK', []", "the status must be a number");
    refused("'2000 OK', []", "the status must be a number");
    refused("'100 Continue', []", "the status must be a number");
    refused("'099 x', []", "the status must be a number");
    refused("'200 OK\\r\\nX: y', []", "the status must be a number");
    refused("'200 \\u20ac', []", "latin-1");
}

static void heads_that_are_fine(void **state)
{
    (void)state;
    ask("evaluate", "'200 OK', [('X-A', 'tab\\tand \\xe4 are fine'), ('X-A', ''), ('x_b!', 'c')]");
    assert_string_equal(cc_buf_text(&answer.headers),
                        "X-A: tab\tand \xe4 are fine\nX-A: \nx_b!: c\n");
    ask("evaluate", "'299', [('Content-Length', '1'), ('Content-Length', ' 1 ')]");
    assert_int_equal(answer.status, 299);
    assert_string_equal(answer.reason, "");
    assert_string_equal(cc_buf_text(&answer.headers), "Content-Length: 1\n");
    assert_true(answer.length_is_header);
    ask("evaluate", "'404 Not Found at all', [('X%d' % i, str(i)) for i in range(200)]");
    assert_string_equal(answer.reason, "Not Found at all");
    assert_holds(&answer.headers, "X199: 199\n");
    ask("own_strings", "");
    assert_string_equal(cc_buf_text(&answer.headers), "X-Own: yes\n");
    assert_string_equal(answer.reason, "Fine");
}

static void wrong_answers_are_said(void **state)
{
    (void)state;
    ask("result", "None");
    assert_failed("the app returned None");
    ask("result", "'text'");
    assert_failed("the app returned a str");
    ask("result", "17");
    assert_failed("the app returned 17");
    ask("result", "['text']");
    assert_failed("must be bytes, not str: 'text'");
    ask("result", "[b'a', 1]");
    assert_events("head body(1) end(cut)");
    assert_holds(&answer.log, "must be bytes, not int");
}

static void exceptions_are_logged_whole(void **state)
{
    static const char *const raised[] = {"ValueError('v')", "SystemExit(3)", "KeyboardInterrupt()",
                                         "MemoryError()", "GeneratorExit()"};
    (void)state;

    for (size_t i = 0; i < sizeof raised / sizeof raised[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(raised[i], "("), raised[i]);
        ask("raises", raised[i]);
        assert_failed(name);
        assert_holds(&answer.log, "GET /raises: the app raised an exception\n"
                                  "Traceback (most recent call last):\n");
        assert_holds(&answer.log, "in deep");
    }
    ask("chained", "");
    assert_failed("The above exception was the direct cause");
    ask("long_traceback", "");
    assert_failed("x END\n");
    ask("hello", "");
    assert_body("Hello World!");
}

static void content_length_is_kept_to(void **state)
{
    (void)state;
    ask("length", "6,3,3");
    assert_events("head body(3) body(3,last) end(whole)");
    assert_int_equal(answer.length, 6);
    assert_true(answer.length_is_header);
    ask("length", "4,3,3");
    assert_events("head body(3) body(1,last) end(whole)");
    assert_non_null(strstr(app_host_log(), "more than its Content-Length of 4 bytes"));
    ask("length", "9,3,3");
    assert_events("head body(3) body(3) end(cut)");
    assert_non_null(strstr(app_host_log(), "sent 6 bytes, fewer than its Content-Length of 9"));
    ask("length", "3");
    assert_events("head end(cut)");
    ask("length", "0,5");
    assert_events("head end(whole)");
    assert_non_null(strstr(app_host_log(), "more than its Content-Length of 0 bytes"));
}

static void some_answers_have_no_body(void **state)
{
    const char *const head[] = {"REQUEST_METHOD=HEAD", NULL};
    (void)state;

    app_host_log();
    ask("status", "204+No+Content");
    assert_int_equal(answer.length, -1);
    assert_events("head end(whole)");
    ask("status", "304+Not+Modified");
    assert_int_equal(answer.length, -1);
    ask_with("status", "200+OK", (struct ask){.vars = head});
    assert_int_equal(answer.length, -1);
    ask_with("length", "9", (struct ask){.vars = head});
    assert_int_equal(answer.length, 9);
    assert_events("head end(whole)");
    assert_string_equal(app_host_log(), "");
    ask_with("hello", "", (struct ask){.vars = head});
    assert_int_equal(answer.length, 12);
    assert_true(answer.whole);
}

static void kept_objects_are_harmless(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        ask_with("keep", "", (struct ask){.body = "body", .body_in_file = file == 1});
        assert_body("kept");
        ask("use_kept", "");
        assert_body("RuntimeError: start_response() was called after its request was over\n"
                    "RuntimeError: write() was called after its request was over\n"
                    "ValueError: wsgi.input was read after its request was over\n"
                    "ValueError: wsgi.input was read after its request was over\n"
                    "ValueError: wsgi.input was read after its request was over\n"
                    "ValueError: wsgi.input was read after its request was over\n"
                    "ValueError: wsgi.input was read after its request was over\n"
                    "True");
    }
}

static void wsgi_errors_reaches_the_log(void **state)
{
    (void)state;
    ask("errors", "");
    assert_string_equal(cc_buf_text(&answer.log), "one line\ntwo\nthree\nprinted\n");
}

static void file_is(const char *path, const char *events, const char *body, int64_t length)
{
    ask(path, "");
    assert_events(events);
    assert_body(body);
    assert_int_equal(answer.length, length);
    ask("file_closed", "");
    assert_body("True");
}

static void files_go_by_sendfile(void **state)
{
    const char *const head[] = {"REQUEST_METHOD=HEAD", NULL};
    (void)state;

    file_is("file", "head file(10) end(whole)", "0123456789", 10);
    file_is("file_seek", "head file(6) end(whole)", "456789", 6);
    file_is("file_short", "head file(3) end(whole)", "012", 3);
    file_is("file_long", "head file(10) end(cut)", "0123456789", 30);
    file_is("file_empty", "head end(whole)", "", 0);
    file_is("file_named", "head file(5) end(whole)", "named", 5);
    answer.gone_after = 0;
    file_is("file", "head file(10) end(cut)", "", 10);
    ask_with("file", "", (struct ask){.vars = head});
    assert_events("head end(whole)");
    assert_int_equal(answer.length, 10);
    app_host_log();
}

static void other_files_are_read(void **state)
{
    (void)state;
    file_is("file_memory", "head body(4) body(4) body(2) end(whole)", "0123456789", -1);
    file_is("file_gzip", "head body(4) body(3) end(whole)", "decoded", -1);
    ask("file_wrapped", "");
    assert_events("head body(4) body(4) body(2) end(whole)");
}

static void extension_modules_find_python(void **state)
{
    (void)state;
    ask("modules", "");
    assert_body("42 0.125 True");
}

static void the_app_runs_where_uwsgi_would(void **state)
{
    (void)state;
    ask("where", "");
    assert_holds(&answer.body, "['uwsgi', '--one', 'two']");
    assert_holds(&answer.body, "/tests/unit/apps', '.']");
    assert_holds(&answer.body, " True /");
}

static void threads_of_the_app_may_help(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        ask_with("other_thread", "", (struct ask){.body = "body", .body_in_file = file == 1});
        assert_body("from a thread: body");
    }
}

static void requests_leave_no_objects(void **state)
{
    long first = 0;
    (void)state;

    for (int round = 0; round < 3; round++) {
        static const char *const paths[] = {"hello", "environ",         "closing", "write",
                                            "file",  "exc_info_before", "chunks",  "errors"};
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
            for (int k = 0; k < 50; k++)
                ask(paths[i], "");
        ask("use_kept", "");
        ask("refs", "");
        long now = strtol(cc_buf_text(&answer.body), NULL, 10);
        if (round == 1)
            first = now;
        if (round > 1)
            assert_in_range(now, 0, first + 20);
    }
}

static void stacks_can_be_dumped(void **state)
{
    (void)state;
    assert_non_null(host.app->dump_stacks);
    int ends[2];
    char text[4096];

    assert_int_equal(pipe(ends), 0);
    host.app->dump_stacks(host.state, ends[1]);
    host.app->dump_stacks(NULL, ends[1]);
    close(ends[1]);
    ssize_t len = read(ends[0], text, sizeof text - 1);
    assert_true(len > 0);
    text[len] = '\0';
    assert_non_null(strstr(text, "Current thread 0x"));
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_hello),
        cmocka_unit_test(lists_are_sent_with_their_length),
        cmocka_unit_test(generators_are_sent_piece_by_piece),
        cmocka_unit_test(slow_clients_are_waited_for),
        cmocka_unit_test(close_is_always_called),
        cmocka_unit_test(write_sends),
        cmocka_unit_test(exc_info_rules),
        cmocka_unit_test(heads_are_checked),
        cmocka_unit_test(heads_that_are_fine),
        cmocka_unit_test(wrong_answers_are_said),
        cmocka_unit_test(exceptions_are_logged_whole),
        cmocka_unit_test(content_length_is_kept_to),
        cmocka_unit_test(some_answers_have_no_body),
        cmocka_unit_test(kept_objects_are_harmless),
        cmocka_unit_test(wsgi_errors_reaches_the_log),
        cmocka_unit_test(files_go_by_sendfile),
        cmocka_unit_test(other_files_are_read),
        cmocka_unit_test(extension_modules_find_python),
        cmocka_unit_test(the_app_runs_where_uwsgi_would),
        cmocka_unit_test(threads_of_the_app_may_help),
        cmocka_unit_test(requests_leave_no_objects),
        cmocka_unit_test(stacks_can_be_dumped),
    };
    return cmocka_run_group_tests(tests, unit_app_start, unit_app_stop);
}
