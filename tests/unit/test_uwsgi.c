/* plugins/uwsgi: packets to requests and responses to bytes. Every case comes whole, byte by byte,
 * and cut at each place in two. */
#include "cc_test.h"

#include <string.h>

#include "plugin/abi.h"
#include "splits.h"
#include "uwsgi/uwsgi_vars.h"

extern const struct cc_plugin cc_plugin;

static const struct cc_uwsgi_settings defaults = {65535, 0};

/* Appends a packet of "NAME=value" texts (up to NULL) to buf. */
static void append_packet(struct cc_buf *buf, int modifier1, const char *const *vars)
{
    struct cc_buf data = {0};

    for (; *vars != NULL; vars++) {
        size_t name = strcspn(*vars, "="), value = strlen(*vars) - name - 1;
        const char lens[] = {(char)name, (char)(name >> 8), (char)value, (char)(value >> 8)};
        cc_buf_append(&data, lens, 2);
        cc_buf_append(&data, *vars, name);
        cc_buf_append(&data, lens + 2, 2);
        cc_buf_append(&data, *vars + name + 1, value);
    }
    const char header[] = {(char)modifier1, (char)data.len, (char)(data.len >> 8), 0};
    cc_buf_append(buf, header, sizeof header);
    cc_buf_append(buf, data.at, data.len);
    cc_buf_clear(&data);
}
#define PACKET(buf, modifier1, ...)                                                                \
    append_packet(buf, modifier1, (const char *const[]){__VA_ARGS__, NULL})

static void feed(struct fake_session *fake, struct cc_buf *bytes)
{
    feed_in_every_split(fake, cc_plugin.ops.protocol, &defaults,
                        (struct cc_span){bytes->at, bytes->len});
    cc_buf_clear(bytes);
}

static void expect_refusal(struct cc_buf *bytes, const struct cc_uwsgi_settings *settings,
                           int status, const char *text)
{
    const struct refusal refusal = {status, bytes->at, bytes->len};
    struct fake_session fake;

    refuse_each(cc_plugin.ops.protocol, settings, &refusal, 1);
    fake_open(&fake, cc_plugin.ops.protocol, settings);
    fake_feed(&fake, bytes->at, bytes->len);
    if (strstr(fake.err.text, text) == NULL)
        fail_msg("expected \"%s\" in \"%s\"", text, fake.err.text);
    fake_close(&fake);
    cc_buf_clear(bytes);
}

static void refuse_text(const char *bytes, size_t len, int status, const char *text)
{
    struct cc_buf buf = {0};

    cc_buf_append(&buf, bytes, len);
    expect_refusal(&buf, &defaults, status, text);
}
#define REFUSE(bytes, status, text) refuse_text(bytes, sizeof(bytes) - 1, status, text)

static void what_nginx_sends(void **state)
{
    struct fake_session fake;
    struct cc_buf buf = {0};
    (void)state;

    PACKET(&buf, 0, "QUERY_STRING=x=1", "REQUEST_METHOD=GET",
           "CONTENT_TYPE=", "CONTENT_LENGTH=", "REQUEST_URI=/a%20b?x=1", "PATH_INFO=/a b",
           "DOCUMENT_ROOT=/usr/share/nginx/html", "SERVER_PROTOCOL=HTTP/1.1",
           "REQUEST_SCHEME=https", "HTTPS=on", "REMOTE_ADDR=10.1.1.1", "REMOTE_PORT=50000",
           "SERVER_PORT=443", "SERVER_NAME=www", "HTTP_HOST=www", "UWSGI_SCRIPT=evil",
           "UWSGI_PYHOME=/evil", "HTTP_X=\xff\x01");
    feed(&fake, &buf);
    assert_int_equal(fake.requests, 1);
    /* A connection is for one request. */
    assert_int_equal(fake.fate, FAKE_CLOSED);
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "/a b");
    assert_string_equal(fake_var(&fake, "SCRIPT_NAME"), "");
    assert_string_equal(fake_var(&fake, "SERVER_NAME"), "www");
    assert_string_equal(fake_var(&fake, "SERVER_PORT"), "443");
    assert_string_equal(fake_var(&fake, "CONTENT_TYPE"), "");
    assert_string_equal(fake_var(&fake, "HTTP_X"), "\xff\x01");
    assert_string_equal(fake_var(&fake, "UWSGI_SCRIPT"), "evil");
    assert_true(cc_span_equal(fake.request.method, CC_SPAN("GET")));
    assert_true(cc_span_equal(fake.request.uri, CC_SPAN("/a%20b?x=1")));
    assert_true(cc_span_equal(fake.request.protocol, CC_SPAN("HTTP/1.1")));
    assert_true(cc_span_equal(fake.request.remote_addr, CC_SPAN("10.1.1.1")));
    assert_int_equal(fake.request.body.length, 0);
    fake_close(&fake);
}

static void what_a_packet_lacks_comes_from_the_connection(void **state)
{
    struct fake_session fake;
    struct cc_buf buf = {0};
    (void)state;

    PACKET(&buf, 0, "REQUEST_METHOD=GET");
    feed(&fake, &buf);
    assert_int_equal(fake.requests, 1);
    assert_string_equal(fake_var(&fake, "SCRIPT_NAME"), "");
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "");
    assert_string_equal(fake_var(&fake, "QUERY_STRING"), "");
    assert_string_equal(fake_var(&fake, "SERVER_NAME"), "example.org");
    assert_string_equal(fake_var(&fake, "SERVER_PORT"), "8000");
    assert_string_equal(fake_var(&fake, "SERVER_PROTOCOL"), "HTTP/1.0");
    assert_true(cc_span_equal(fake.request.remote_addr, CC_SPAN("192.0.2.1")));
    fake_close(&fake);
}

static void bodies(void **state)
{
    struct fake_session fake;
    struct cc_buf buf = {0};
    (void)state;

    PACKET(&buf, 0, "REQUEST_METHOD=POST", "CONTENT_LENGTH=6");
    cc_buf_append(&buf, "a\0b\r\nc", 6);
    feed(&fake, &buf);
    assert_int_equal(fake.requests, 1);
    assert_int_equal(fake.request.body.length, 6);
    assert_memory_equal(fake.request.body.memory.at, "a\0b\r\nc", 6);
    assert_false(fake.request.body.chunked);
    fake_close(&fake);
    PACKET(&buf, 0, "REQUEST_METHOD=POST", "CONTENT_LENGTH=6");
    cc_buf_append(&buf, "abcde", 5);
    feed(&fake, &buf);
    assert_int_equal(fake.requests, 0);
    assert_int_equal(fake.session.phase, CC_PHASE_BODY);
    assert_false(fake.protocol->finished(fake.state));
    fake_close(&fake);
}

static void the_largest_packet(void **state)
{
    struct fake_session fake;
    struct cc_buf buf = {0};
    char *long_var = test_malloc(70000);
    (void)state;

    /* 2 + 14 + 2 + 3 for the method, 2 + 1 + 2 around the rest. */
    memcpy(long_var, "X=", 2);
    memset(long_var + 2, 'x', 65535 - 21 - 5);
    long_var[2 + 65535 - 21 - 5] = '\0';
    PACKET(&buf, 0, "REQUEST_METHOD=GET", long_var);
    assert_int_equal(buf.len, 4 + 65535);
    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake_feed(&fake, buf.at, 10000);
    assert_int_equal(fake.session.phase, CC_PHASE_HEAD);
    fake_feed(&fake, buf.at + 10000, buf.len - 10000);
    assert_int_equal(fake.requests, 1);
    assert_int_equal(strlen(fake_var(&fake, "X")), 65535 - 21 - 5);
    fake_close(&fake);
    const struct cc_uwsgi_settings small = {4096, 0};
    buf.len = 4; /* it is refused before the variables come */
    expect_refusal(&buf, &small, 431,
                   "invalid request block size: 65535 (max 4096): raise buffer-size");
    test_free(long_var);
}

static void a_packet_as_large_as_buffer_size_is_taken(void **state)
{
    const struct cc_uwsgi_settings exact = {21, 0}, less = {20, 0};
    struct fake_session fake;
    struct cc_buf buf = {0};
    (void)state;

    PACKET(&buf, 0, "REQUEST_METHOD=GET");
    fake_open(&fake, cc_plugin.ops.protocol, &exact);
    fake_feed(&fake, buf.at, buf.len);
    assert_int_equal(fake.requests, 1);
    fake_close(&fake);
    expect_refusal(&buf, &less, 431, "raise buffer-size");
}

static void broken_packets(void **state)
{
    (void)state;
    REFUSE("\0\x04\0\0\x01\0A\x02", 400, "beyond the packet's end");
    REFUSE("\0\x01\0\0\x01", 400, "beyond the packet's end");
    REFUSE("\0\x03\0\0\x01\0A", 400, "beyond the packet's end");
    REFUSE("\0\x05\0\0\xff\xff\x41\0\0", 400, "beyond the packet's end");
    REFUSE("\0\x07\0\0\x01\0A\x02\0B!", 400, "without REQUEST_METHOD");
    REFUSE("\0\x06\0\0\x01\0A\x02\0B", 400, "beyond the packet's end");
    REFUSE("\0\x05\0\0\0\0\x01\0A", 400, "without a name");
    REFUSE("\0\0\0\0", 400, "without any variable");
}

static void wrong_lengths(void **state)
{
    static const char *const lengths[] = {
        "CONTENT_LENGTH=x",  "CONTENT_LENGTH=-1",  "CONTENT_LENGTH= 1",
        "CONTENT_LENGTH=+1", "CONTENT_LENGTH=1,1", "CONTENT_LENGTH=9223372036854775808"};
    const struct cc_uwsgi_settings limited = {65535, 10};
    struct cc_buf buf = {0};
    (void)state;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        PACKET(&buf, 0, "REQUEST_METHOD=POST", lengths[i]);
        expect_refusal(&buf, &defaults, 400, "CONTENT_LENGTH");
    }
    PACKET(&buf, 0, "REQUEST_METHOD=POST", "CONTENT_LENGTH=1", "CONTENT_LENGTH=1");
    expect_refusal(&buf, &defaults, 400, "twice");
    PACKET(&buf, 0, "REQUEST_METHOD=POST", "CONTENT_LENGTH=11");
    expect_refusal(&buf, &limited, 413, "limit-post allows 10");
    PACKET(&buf, 0, "CONTENT_LENGTH=11");
    expect_refusal(&buf, &limited, 400, "include uwsgi_params");
}

static void strangers(void **state)
{
    (void)state;
    REFUSE("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "HTTP request on a uwsgi socket");
    REFUSE("POST /x", 400, "HTTP request on a uwsgi socket");
    REFUSE("OPTIONS", 400, "uwsgi_pass");
    REFUSE("PRI * HTTP/2.0\r\n\r\n", 400, "HTTP request on a uwsgi socket");
    REFUSE("\x16\x03\x01\x02\x00\x01", 0, "TLS handshake on a uwsgi socket");
    REFUSE("\x05\x10\0\0", 501, "modifier1 = 5 (a Perl request");
    REFUSE("\x0e\0\0\0", 501, "modifier1 = 14 (a PHP request)");
    REFUSE("\xad\0\0\0", 501, "173 (a remote procedure call)");
    REFUSE("\x6e\0\0\x02", 501, "modifier1 = 110 (a signal)");
    REFUSE("\xfa\0\0\0", 501, "modifier1 = 250 (a request of a kind without a name)");
}

/* Answered, and then the connection ends without a complaint. */
static void ping(struct cc_buf *packet)
{
    struct fake_session fake;

    feed(&fake, packet);
    assert_int_equal(fake.fate, FAKE_REFUSED);
    assert_int_equal(fake.err.status, 0);
    assert_string_equal(fake.err.text, "");
    assert_int_equal(fake.out.len, 4);
    assert_memory_equal(fake.out.at, "\x64\0\0\x01", 4);
    fake_close(&fake);
}

static void pings(void **state)
{
    struct cc_buf buf = {0};
    (void)state;

    PACKET(&buf, 100, NULL);
    ping(&buf);
    PACKET(&buf, 100, "A=b");
    ping(&buf);
}

static void phases_and_ends(void **state)
{
    static const char packet[] = "\0\x15\0\0\x0e\0REQUEST_METHOD\x03\0GET";
    struct fake_session fake;
    (void)state;

    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake.by_hand = true;
    assert_int_equal(fake.session.phase, CC_PHASE_IDLE);
    assert_true(fake.protocol->finished(fake.state));
    for (size_t i = 0; i < sizeof packet - 2; i++) {
        fake_feed(&fake, packet + i, 1);
        assert_int_equal(fake.session.phase, CC_PHASE_HEAD);
        assert_false(fake.protocol->finished(fake.state));
    }
    fake_feed(&fake, packet + sizeof packet - 2, 1);
    assert_int_equal(fake.fate, FAKE_WAITING);
    assert_int_equal(fake.session.phase, CC_PHASE_IDLE);
    assert_true(fake.protocol->finished(fake.state));
    fake_close(&fake);
}

#define HEADER(name, value)                                                                        \
    {                                                                                              \
        {"" name, sizeof(name) - 1},                                                               \
        {                                                                                          \
            "" value, sizeof(value) - 1                                                            \
        }                                                                                          \
    }

/* Answers a request of a method and a SERVER_PROTOCOL; the whole wire must be as expected. */
static void expect_answer(const char *method, const char *protocol,
                          const struct fake_answer *answer, const char *wire)
{
    struct fake_session fake;
    struct cc_buf buf = {0};

    PACKET(&buf, 0, method, protocol);
    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake.answer = answer;
    fake_feed(&fake, buf.at, buf.len);
    assert_int_equal(fake.fate, FAKE_CLOSED);
    assert_string_equal(cc_buf_text(&fake.out), wire);
    fake_close(&fake);
    cc_buf_clear(&buf);
}

static void answers(void **state)
{
    const char *const pieces[] = {"he", "llo", NULL};
    const struct cc_pair headers[] = {HEADER("X", "y"), HEADER("Content-Length", "3"),
                                      HEADER("Transfer-Encoding", "chunked")};
    const struct cc_response counted = {.status = 200, .length = 5, .date = CC_SPAN("today")};
    const struct cc_response told = {.status = 404,
                                     .reason = CC_SPAN("Gone fishing"),
                                     .headers = headers,
                                     .n_headers = 3,
                                     .length = 3};
    const struct cc_response unknown = {.status = 500, .length = -1};
    const struct cc_response nothing = {.status = 304, .length = 0};
    (void)state;

    expect_answer("REQUEST_METHOD=GET", "SERVER_PROTOCOL=HTTP/1.1",
                  &(struct fake_answer){counted, pieces, false},
                  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    expect_answer("REQUEST_METHOD=GET", "SERVER_PROTOCOL=HTTP/1.0",
                  &(struct fake_answer){told, pieces, false},
                  "HTTP/1.0 404 Gone fishing\r\nX: y\r\nContent-Length: 3\r\n\r\nhel");
    expect_answer("REQUEST_METHOD=GET", "SERVER_PROTOCOL=HTTP/2.0",
                  &(struct fake_answer){unknown, pieces, true},
                  "HTTP/1.1 500 Internal Server Error\r\n\r\nhello");
    expect_answer("REQUEST_METHOD=HEAD", "SERVER_PROTOCOL=HTTP/1.1",
                  &(struct fake_answer){counted, pieces, false},
                  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    expect_answer("REQUEST_METHOD=GET", "X=y", &(struct fake_answer){nothing, pieces, false},
                  "HTTP/1.0 304 Not Modified\r\n\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nginx_sends),
        cmocka_unit_test(what_a_packet_lacks_comes_from_the_connection),
        cmocka_unit_test(bodies),
        cmocka_unit_test(the_largest_packet),
        cmocka_unit_test(a_packet_as_large_as_buffer_size_is_taken),
        cmocka_unit_test(broken_packets),
        cmocka_unit_test(wrong_lengths),
        cmocka_unit_test(strangers),
        cmocka_unit_test(pings),
        cmocka_unit_test(phases_and_ends),
        cmocka_unit_test(answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
