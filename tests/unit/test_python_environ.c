/* plugins/python: what an app is given: environ and wsgi.input. */
#include "cc_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "unit_app.h"

static void environ_has_all_that_pep_3333_asks_for(void **state)
{
    (void)state;
    ask("environ", "");
    assert_body("PATH_INFO='/environ'\n"
                "QUERY_STRING=''\n"
                "REQUEST_METHOD='GET'\n"
                "SCRIPT_NAME=''\n"
                "SERVER_NAME='localhost'\n"
                "SERVER_PORT='80'\n"
                "SERVER_PROTOCOL='HTTP/1.0'\n"
                "wsgi.errors='object'\n"
                "wsgi.file_wrapper='object'\n"
                "wsgi.input='object'\n"
                "wsgi.input_terminated=True\n"
                "wsgi.multiprocess=True\n"
                "wsgi.multithread=True\n"
                "wsgi.run_once=False\n"
                "wsgi.url_scheme='http'\n"
                "wsgi.version=(1, 0)\n");
}

static void environ_carries_the_requests_variables(void **state)
{
    const char *const vars[] = {"REQUEST_METHOD=POST",
                                "SERVER_NAME=",
                                "SERVER_PORT=8080",
                                "HTTP_X=1",
                                "HTTP_X=last",
                                "HTTP_X_BYTES=\xe4\xff\x80",
                                "HTTP_COOKIE=a=b; c=",
                                "CONTENT_TYPE=",
                                NULL};
    (void)state;

    for (int i = 0; i < 2; i++) {
        ask_with("environ", "a=%20&b", (struct ask){.vars = vars});
        assert_holds(&answer.body, "QUERY_STRING='a=%20&b'\n");
        assert_holds(&answer.body, "REQUEST_METHOD='POST'\n");
        assert_holds(&answer.body, "SERVER_NAME='localhost'\n");
        assert_holds(&answer.body, "SERVER_PORT='8080'\n");
        assert_holds(&answer.body, "HTTP_X='last'\n");
        assert_holds(&answer.body, "HTTP_X_BYTES='\xc3\xa4\xc3\xbf\\x80'\n");
        assert_holds(&answer.body, "HTTP_COOKIE='a=b; c='\n");
        assert_holds(&answer.body, "CONTENT_TYPE=''\n");
    }
}

static void scheme_of(const char *expected, const char *first, const char *second)
{
    const char *const vars[] = {first, second, NULL};
    char line[64];

    ask_with("environ", "", (struct ask){.vars = vars});
    snprintf(line, sizeof line, "wsgi.url_scheme='%s'\n", expected);
    assert_holds(&answer.body, line);
}

static void url_scheme_follows_the_front_server(void **state)
{
    (void)state;
    scheme_of("https", "HTTPS=on", NULL);
    scheme_of("https", "HTTPS=1", NULL);
    scheme_of("http", "HTTPS=off", NULL);
    scheme_of("http", "HTTPS=", NULL);
    scheme_of("https", "REQUEST_SCHEME=https", NULL);
    scheme_of("http", "REQUEST_SCHEME=http", NULL);
    scheme_of("https", "REQUEST_SCHEME=http", "HTTPS=on");
    scheme_of("http", "UWSGI_SCHEME=http", "HTTPS=on");
    scheme_of("https", "UWSGI_SCHEME=https", "REQUEST_SCHEME=http");
}

static void environs_do_not_share(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        ask("mutate", "");
        assert_body("clean");
    }
    ask("environ", "");
    assert_holds(&answer.body, "SCRIPT_NAME=''\n");
}

static void names_of_clients_cannot_fill_the_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        char text[64], line[64];
        snprintf(text, sizeof text, "HTTP_X_%d_NAME=%d", i, i);
        snprintf(line, sizeof line, "HTTP_X_%d_NAME='%d'\n", i, i);
        const char *const vars[] = {text, NULL};
        ask_with("environ", "", (struct ask){.vars = vars});
        assert_holds(&answer.body, line);
    }
    char *name = cc_format("HTTP_%0200d=long", 7);
    const char *const vars[] = {name, "=empty name", NULL};
    ask_with("environ", "", (struct ask){.vars = vars});
    assert_holds(&answer.body, "7='long'\n");
    assert_holds(&answer.body, "='empty name'\n");
    free(name);
}

/* What an expression over wsgi.input gives, for a body in memory and in a file. */
static void input_gives(const char *expression, const char *body, const char *expected)
{
    for (int file = 0; file < 2; file++) {
        ask_with("read_body", expression, (struct ask){.body = body, .body_in_file = file == 1});
        assert_body(expected);
    }
}

static void input_reads(void **state)
{
    (void)state;
    input_gives("f.read()", "abc", "b'abc'");
    input_gives("f.read(-1)", "abc", "b'abc'");
    input_gives("f.read(None)", "abc", "b'abc'");
    input_gives("f.read(0)", "abc", "b''");
    input_gives("f.read(10**12)", "abc", "b'abc'");
    input_gives("(f.read(2), f.read(2), f.read(2))", "abc", "(b'ab', b'c', b'')");
    input_gives("f.read()+f.read()", "", "b''");
    input_gives("(f.readinto(b:=bytearray(4)), bytes(b))", "abcdef", "(4, b'abcd')");
    input_gives("io.TextIOWrapper(f).read()", "abc", "'abc'");
    input_gives("io.BufferedReader(f).readline()", "a\nc", "b'a\\n'");
    ask("read_body", "(f.read(), f.readline(), f.readlines(), list(f))");
    assert_body("(b'', b'', [], [])");
}

static void input_splits_lines(void **state)
{
    (void)state;
    input_gives("[f.readline() for i in range(4)]", "a\n\nbc", "[b'a\\n', b'\\n', b'bc', b'']");
    input_gives("[f.readline(2) for i in range(4)]", "abc\nd", "[b'ab', b'c\\n', b'd', b'']");
    input_gives("(f.readline(0), f.readline(-1))", "abc\nd", "(b'', b'abc\\n')");
    input_gives("f.readlines()", "a\nb\nc", "[b'a\\n', b'b\\n', b'c']");
    input_gives("(f.readlines(3), f.read())", "a\nb\nc\nd\n", "([b'a\\n', b'b\\n'], b'c\\nd\\n')");
    input_gives("[line for line in f]", "a\nb", "[b'a\\n', b'b']");
    input_gives("(next(f), f.read(1), f.readline())", "a\nbcd\n", "(b'a\\n', b'b', b'cd\\n')");
    /* A line longer than the block that is looked through at once. */
    char *body = cc_format("%05000d\n%04096d\nend", 1, 2);
    input_gives("[len(line) for line in f]", body, "[5001, 4097, 3]");
    free(body);
}

static void input_refuses_wrong_arguments(void **state)
{
    (void)state;
    ask("read_body", "f.read('x')");
    assert_failed("TypeError");
    ask("read_body", "f.read(1, 2)");
    assert_failed("TypeError");
    ask("read_body", "f.readinto(b'abc')");
    assert_failed("Error");
}

static void a_chunked_body_has_a_length_at_last(void **state)
{
    (void)state;
    ask_with("environ", "", (struct ask){.body = "12345", .chunked = true});
    assert_holds(&answer.body, "CONTENT_LENGTH='5'\n");
    ask_with("read_body", "f.read()", (struct ask){.body = "12345", .chunked = true});
    assert_body("b'12345'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environ_has_all_that_pep_3333_asks_for),
        cmocka_unit_test(environ_carries_the_requests_variables),
        cmocka_unit_test(url_scheme_follows_the_front_server),
        cmocka_unit_test(environs_do_not_share),
        cmocka_unit_test(names_of_clients_cannot_fill_the_memory),
        cmocka_unit_test(input_reads),
        cmocka_unit_test(input_splits_lines),
        cmocka_unit_test(input_refuses_wrong_arguments),
        cmocka_unit_test(a_chunked_body_has_a_length_at_last),
    };
    return cmocka_run_group_tests(tests, unit_app_start, unit_app_stop);
}
