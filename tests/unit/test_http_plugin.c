/* plugins/http: whole connections, from bytes to requests and from responses to bytes. */
#include "cc_test.h"

#include <stdio.h>
#include <string.h>

#include "http/http_settings.h"
#include "plugin/abi.h"
#include "splits.h"

extern const struct cc_plugin cc_plugin;

static const struct cc_http_settings defaults = {65536, 16384, 100, 0};

#define HOST            "Host: a\r\n"
#define GET(path)       "GET " path " HTTP/1.1\r\n" HOST "\r\n"
#define OLD(connection) "GET / HTTP/1.0\r\n" connection "\r\n"
#define PIECES(...)     ((const char *const[]){__VA_ARGS__, NULL})
#define HEADERS(...)                                                                               \
    .headers = (const struct cc_pair[]){__VA_ARGS__},                                              \
    .n_headers = sizeof((struct cc_pair[]){__VA_ARGS__}) / sizeof(struct cc_pair)
#define HEADER(name, value)                                                                        \
    {                                                                                              \
        {"" name, sizeof(name) - 1},                                                               \
        {                                                                                          \
            "" value, sizeof(value) - 1                                                            \
        }                                                                                          \
    }

static void feed(struct fake_session *fake, struct cc_span bytes)
{
    feed_in_every_split(fake, cc_plugin.ops.protocol, &defaults, bytes);
}

static void body_is(struct fake_session *fake, const char *text)
{
    assert_int_equal(fake->request.body.length, strlen(text));
    assert_memory_equal(cc_buf_text(&fake->request.body.memory), text, strlen(text));
}

static void bodies_with_a_length(void **state)
{
    struct fake_session fake;
    (void)state;

    feed(&fake, CC_SPAN("POST /1 HTTP/1.1\r\n" HOST "Content-Length: 005\r\n\r\nab\r\n\r"
                        "PUT /2 HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"
                        "GET /3 HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nxyz"));
    assert_int_equal(fake.requests, 3);
    assert_int_equal(fake.fate, FAKE_OPEN);
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "/3");
    assert_string_equal(fake_var(&fake, "CONTENT_LENGTH"), "3");
    assert_false(fake.request.body.chunked);
    body_is(&fake, "xyz");
    assert_non_null(strstr(cc_buf_text(&fake.told), "CONTENT_LENGTH=005\nSERVER"));
    assert_non_null(strstr(cc_buf_text(&fake.told), "\nbody=ab\r\n\r\n"));
    fake_close(&fake);
}

static void pipelined_requests_wait_for_each_other(void **state)
{
    static const char bytes[] = GET("/1") GET("/2");
    struct fake_session fake;
    size_t first;
    (void)state;

    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake.by_hand = true;
    first = fake_feed(&fake, bytes, sizeof bytes - 1);
    assert_int_equal(fake.fate, FAKE_WAITING);
    assert_int_equal(first, sizeof GET("/1") - 1);
    /* While a request is out, nothing is taken. */
    size_t used = 7;
    struct cc_err err;
    assert_true(cc_plugin.ops.protocol->feed(fake.state, bytes + first, 5, &used, &fake.out, &err));
    assert_int_equal(used, 0);
    fake_answer(&fake, NULL);
    assert_int_equal(fake_feed(&fake, bytes + first, sizeof bytes - 1 - first),
                     sizeof bytes - 1 - first);
    assert_int_equal(fake.requests, 2);
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "/2");
    fake_answer(&fake, NULL);
    fake_close(&fake);
}

static void who_keeps_the_connection(void **state)
{
    static const struct {
        struct cc_span bytes;
        enum fake_fate fate;
        const char *said; /* of the answer's Connection header; NULL: nothing */
    } cases[] = {
        {CC_SPAN(GET("/")), FAKE_OPEN, NULL},
        {CC_SPAN("GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"), FAKE_CLOSED, "close"},
        {CC_SPAN("GET / HTTP/1.1\r\n" HOST "Connection: x,, CLOSE ,y\r\n\r\n"), FAKE_CLOSED,
         "close"},
        {CC_SPAN("GET / HTTP/1.1\r\n" HOST "Connection: x\r\nConnection: close\r\n\r\n"),
         FAKE_CLOSED, "close"},
        {CC_SPAN("GET / HTTP/1.1\r\n" HOST "Connection: closed, keep-alive\r\n\r\n"), FAKE_OPEN,
         NULL},
        {CC_SPAN("GET / HTTP/1.1\r\n" HOST "Connection: keep-alive, close\r\n\r\n"), FAKE_CLOSED,
         "close"},
        {CC_SPAN(OLD("")), FAKE_CLOSED, "close"},
        {CC_SPAN(OLD("Connection: Keep-Alive\r\n")), FAKE_OPEN, "keep-alive"},
        {CC_SPAN(OLD("Connection: keep-alive, close\r\n")), FAKE_CLOSED, "close"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake_session fake;
        feed(&fake, cases[i].bytes);
        assert_int_equal(fake.requests, 1);
        assert_int_equal(fake.fate, cases[i].fate);
        const char *said = strstr(cc_buf_text(&fake.out), "\r\nConnection: ");
        if (cases[i].said == NULL)
            assert_null(said);
        else
            assert_memory_equal(said + strlen("\r\nConnection: "), cases[i].said,
                                strlen(cases[i].said));
        fake_close(&fake);
    }
}

static void the_continue_comes_before_the_body(void **state)
{
    struct fake_session fake;
    (void)state;

    feed(&fake,
         CC_SPAN("POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n"));
    assert_string_equal(cc_buf_text(&fake.out), "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(fake.session.phase, CC_PHASE_BODY);
    fake_feed(&fake, "ab", 2);
    assert_int_equal(fake.requests, 1);
    body_is(&fake, "ab");
    fake_close(&fake);
    feed(&fake, CC_SPAN("POST / HTTP/1.1\r\n" HOST
                        "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"));
    assert_string_equal(cc_buf_text(&fake.out), "HTTP/1.1 100 Continue\r\n\r\n");
    fake_close(&fake);
    /* No body, or a client that cannot know it: nothing. */
    feed(&fake, CC_SPAN("GET / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n\r\n"));
    assert_null(strstr(cc_buf_text(&fake.out), "100 Continue"));
    fake_close(&fake);
    feed(&fake, CC_SPAN("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    assert_int_equal(fake.out.len, 0);
    fake_close(&fake);
}

static void announced_bodies_past_the_limit(void **state)
{
    const struct cc_http_settings limited = {65536, 16384, 100, 10};
    static const struct refusal cases[] = {
        CC_REFUSAL(413, "POST / HTTP/1.1\r\n" HOST "Content-Length: 11\r\n\r\n"),
        /* and it is not asked for */
        CC_REFUSAL(413, "POST / HTTP/1.1\r\n" HOST
                        "Expect: 100-continue\r\nContent-Length: 9223372036854775807\r\n\r\n"),
    };
    struct fake_session fake;
    (void)state;

    refuse_each(cc_plugin.ops.protocol, &limited, cases, 2);
    feed_in_every_split(&fake, cc_plugin.ops.protocol, &limited,
                        CC_SPAN("POST / HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\n0123456789"));
    assert_int_equal(fake.requests, 1);
    fake_close(&fake);
}

static void the_host_may_refuse_a_body(void **state)
{
    static const char bytes[] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\n012345678";
    struct fake_session fake;
    (void)state;

    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake.body_limit = 5;
    fake_feed(&fake, bytes, sizeof bytes - 1);
    assert_int_equal(fake.fate, FAKE_REFUSED);
    assert_int_equal(fake.err.status, 413);
    fake_close(&fake);
}

static void phases_and_ends(void **state)
{
    static const struct {
        const char *bytes;
        enum cc_phase phase;
        bool finished;
    } steps[] = {
        {"\r", CC_PHASE_HEAD, false},
        {"\n", CC_PHASE_IDLE, true},
        {"P", CC_PHASE_HEAD, false},
        {"OST / HTTP/1.1\r\nHost: a\r\n", CC_PHASE_HEAD, false},
        {"Content-Length: 2\r\n\r", CC_PHASE_HEAD, false},
        {"\n", CC_PHASE_BODY, false},
        {"a", CC_PHASE_BODY, false},
        {"b", CC_PHASE_IDLE, true},
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\nG", CC_PHASE_HEAD, false},
    };
    struct fake_session fake;
    (void)state;

    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    assert_int_equal(fake.session.phase, CC_PHASE_IDLE);
    assert_true(fake.protocol->finished(fake.state));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        fake_feed(&fake, steps[i].bytes, strlen(steps[i].bytes));
        assert_int_equal(fake.session.phase, steps[i].phase);
        assert_int_equal(fake.protocol->finished(fake.state), steps[i].finished);
    }
    assert_int_equal(fake.requests, 2);
    fake_close(&fake);
}

/* A request, its answer, and all that must be on the wire. */
struct exchange {
    const char *request;
    struct fake_answer answer;
    const char *wire;
    enum fake_fate fate;
};

static void exchange_each(const struct exchange *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fake_session fake;
        fake_open(&fake, cc_plugin.ops.protocol, &defaults);
        fake.answer = &cases[i].answer;
        fake_feed(&fake, cases[i].request, strlen(cases[i].request));
        assert_string_equal(cc_buf_text(&fake.out), cases[i].wire);
        assert_int_equal(fake.fate, cases[i].fate);
        fake_close(&fake);
    }
}
#define EXCHANGE_EACH(cases) exchange_each(cases, sizeof(cases) / sizeof(cases)[0])

#define HEAD_REQUEST "HEAD / HTTP/1.1\r\n" HOST "\r\n"

static void answers_with_a_length(void **state)
{
    const struct exchange cases[] = {
        {GET("/"),
         {{.status = 200,
           .reason = CC_SPAN("OK"),
           .length = 5,
           HEADERS(HEADER("Content-Type", "text/plain"))},
          PIECES("hello"),
          false},
         "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
         FAKE_OPEN},
        {GET("/"),
         {{.status = 404,
           .length = 5,
           .date = CC_SPAN("today"),
           HEADERS(HEADER("content-length", "5"), HEADER("X", ""))},
          PIECES("he", "llo"),
          false},
         "HTTP/1.1 404 Not Found\r\nX: \r\nDate: today\r\nContent-Length: 5\r\n\r\nhello",
         FAKE_OPEN},
        {GET("/"),
         {{.status = 299,
           .length = 0,
           .date = CC_SPAN("today"),
           .close = true,
           HEADERS(HEADER("DATE", "mine"))},
          NULL,
          false},
         "HTTP/1.1 299 Unknown\r\nDATE: mine\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
         FAKE_CLOSED},
    };
    (void)state;
    EXCHANGE_EACH(cases);
}

static void answers_of_another_length_than_promised(void **state)
{
    const struct exchange cases[] = {
        /* More than promised: cut. */
        {GET("/"),
         {{.status = 200, .length = 3, HEADERS(HEADER("Content-Length", "3"))},
          PIECES("he", "llo", "!"),
          false},
         "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhel",
         FAKE_OPEN},
        /* Less: the client must not wait for the rest, nor take the next answer for it. */
        {GET("/"),
         {{.status = 200, .length = 9, HEADERS(HEADER("Content-Length", "9"))},
          PIECES("hello"),
          false},
         "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
         FAKE_CLOSED},
        {OLD("Connection: keep-alive\r\n"),
         {{.status = 200, .length = 5}, PIECES("hello"), false},
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello",
         FAKE_OPEN},
        /* An app that fails after all that it promised has kept it. */
        {GET("/"),
         {{.status = 200, .length = 5}, PIECES("hello"), true},
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
         FAKE_OPEN},
        {GET("/"),
         {{.status = 200, .length = 6}, PIECES("hello"), true},
         "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello",
         FAKE_CLOSED},
    };
    (void)state;
    EXCHANGE_EACH(cases);
}

static void answers_without_a_length(void **state)
{
    const struct exchange cases[] = {
        {GET("/"),
         {{.status = 200, .length = -1}, PIECES("hello, world: 0123", "!"), false},
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         "12\r\nhello, world: 0123\r\n1\r\n!\r\n0\r\n\r\n",
         FAKE_OPEN},
        {GET("/"),
         {{.status = 200, .length = -1}, NULL, false},
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         FAKE_OPEN},
        /* Broken off: no last chunk. */
        {GET("/"),
         {{.status = 200, .length = -1}, PIECES("hello"), true},
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
         FAKE_CLOSED},
        /* HTTP/1.0 knows no chunks: the end of the connection ends the body. */
        {OLD("Connection: keep-alive\r\n"),
         {{.status = 200, .length = -1}, PIECES("hello", "!"), false},
         "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello!",
         FAKE_CLOSED},
        /* What is the protocol's to say is not the app's. */
        {GET("/"),
         {{.status = 200,
           .length = -1,
           HEADERS(HEADER("Transfer-Encoding", "gzip"), HEADER("Connection", "x"),
                   HEADER("Keep-Alive", "max=9"), HEADER("Content-Length", "five"))},
          PIECES("a"),
          false},
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
         FAKE_OPEN},
        {GET("/"),
         {{.status = 200, .length = 1, HEADERS(HEADER("Connection", "x, Close"))},
          PIECES("a"),
          false},
         "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na",
         FAKE_CLOSED},
    };
    (void)state;
    EXCHANGE_EACH(cases);
}

static void answers_without_a_body(void **state)
{
    const struct exchange cases[] = {
        {HEAD_REQUEST,
         {{.status = 200, .length = 5}, PIECES("hello"), false},
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
         FAKE_OPEN},
        {HEAD_REQUEST,
         {{.status = 200, .length = 60000, HEADERS(HEADER("Content-Length", "60000"))},
          NULL,
          false},
         "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n",
         FAKE_OPEN},
        /* No body was made: that says nothing of GET. */
        {HEAD_REQUEST,
         {{.status = 200, .length = 0}, NULL, false},
         "HTTP/1.1 200 OK\r\n\r\n",
         FAKE_OPEN},
        {HEAD_REQUEST,
         {{.status = 200, .length = -1}, PIECES("hello"), true},
         "HTTP/1.1 200 OK\r\n\r\n",
         FAKE_OPEN},
        {"HEAD / HTTP/1.0\r\n\r\n",
         {{.status = 200, .length = -1}, PIECES("hello"), false},
         "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
         FAKE_CLOSED},
        {GET("/"),
         {{.status = 204, .length = 0, HEADERS(HEADER("Content-Length", "0"))}, PIECES("x"), false},
         "HTTP/1.1 204 No Content\r\n\r\n",
         FAKE_OPEN},
        {GET("/"),
         {{.status = 304, .length = -1, HEADERS(HEADER("ETag", "\"1\""))}, PIECES("x", "y"), false},
         "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n",
         FAKE_OPEN},
        {OLD("Connection: keep-alive\r\n"),
         {{.status = 304, .length = -1}, NULL, false},
         "HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\n\r\n",
         FAKE_OPEN},
    };
    (void)state;
    EXCHANGE_EACH(cases);
}

static void big_chunks_have_their_size(void **state)
{
    struct fake_session fake;
    struct cc_frame frame;
    const struct cc_response response = {.status = 200, .length = -1};
    (void)state;

    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake.by_hand = true;
    fake_feed(&fake, GET("/"), sizeof GET("/") - 1);
    fake.protocol->head(fake.state, &fake.request, &response, &fake.out);
    assert_true(fake.protocol->frame(fake.state, 0xfedcba9876543210, &frame));
    assert_true(cc_span_equal(frame.before, CC_SPAN("fedcba9876543210\r\n")));
    assert_true(cc_span_equal(frame.after, CC_SPAN("\r\n")));
    assert_true(frame.len == 0xfedcba9876543210);
    assert_true(fake.protocol->end(fake.state, true, &fake.out));
    fake_close(&fake);
}

static void refusals_are_whole_responses(void **state)
{
    struct fake_session fake;
    (void)state;

    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake.protocol->refuse(fake.state, 503, "come back later", &fake.out);
    assert_non_null(strstr(cc_buf_text(&fake.out),
                           "\r\nContent-Length: 40\r\nConnection: close\r\n\r\n"
                           "503 Service Unavailable\ncome back later\n"));
    fake_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_with_a_length),
        cmocka_unit_test(pipelined_requests_wait_for_each_other),
        cmocka_unit_test(who_keeps_the_connection),
        cmocka_unit_test(the_continue_comes_before_the_body),
        cmocka_unit_test(announced_bodies_past_the_limit),
        cmocka_unit_test(the_host_may_refuse_a_body),
        cmocka_unit_test(phases_and_ends),
        cmocka_unit_test(answers_with_a_length),
        cmocka_unit_test(answers_of_another_length_than_promised),
        cmocka_unit_test(answers_without_a_length),
        cmocka_unit_test(answers_without_a_body),
        cmocka_unit_test(big_chunks_have_their_size),
        cmocka_unit_test(refusals_are_whole_responses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
