/* plugins/http: whole connections, from bytes to requests and from responses to bytes. */
#include "cc_test.h"

#include <stdio.h>

#include "http/http_settings.h"
#include "plugin/abi.h"
#include "splits.h"

extern const struct cc_plugin cc_plugin;

static const struct cc_http_settings defaults = {65536, 16384, 100, 0};

#define HOST "Host: a\r\n"

/* What a connection's first bytes must lead to. */
struct refusal {
    int status;
    const char *bytes;
    size_t len; /* 0: of the text */
};

static void refuse_each(const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fake_session fake;
        size_t len = cases[i].len == 0 ? strlen(cases[i].bytes) : cases[i].len;
        char expected[32];
        feed_in_every_split(&fake, cc_plugin.ops.protocol, &defaults,
                            (struct cc_span){cases[i].bytes, len});
        if (fake.fate != FAKE_REFUSED || fake.err.status != cases[i].status || fake.requests != 0)
            fail_msg("expected %d for\n%s\ngot fate %d, %d %s", cases[i].status, cases[i].bytes,
                     fake.fate, fake.err.status, fake.err.text);
        snprintf(expected, sizeof expected, "HTTP/1.1 %d ", cases[i].status);
        assert_memory_equal(fake.out.at, expected, strlen(expected));
        assert_non_null(strstr(cc_buf_text(&fake.out), "\r\nConnection: close\r\n"));
        fake_close(&fake);
    }
}
#define REFUSE_EACH(cases) refuse_each(cases, sizeof(cases) / sizeof(cases)[0])

#define BYTES(status, text)                                                                        \
    {                                                                                              \
        (status), (text), sizeof(text) - 1                                                         \
    }

static void wrong_request_lines(void **state)
{
    static const struct refusal cases[] = {
        BYTES(400, "GET  / HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /  HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, " GET / HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET\t/ HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /\tx HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET / HTTP/1.1 \r\n" HOST "\r\n"),
        BYTES(400, "GET / x HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /\r\n\r\n"),
        BYTES(400, "GET\r\n\r\n"),
        BYTES(400, "G(T / HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET / HTTP/1.\r\n" HOST "\r\n"),
        BYTES(400, "GET / HTTP/1.11\r\n" HOST "\r\n"),
        BYTES(400, "GET / http/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET / HTTP/x.1\r\n" HOST "\r\n"),
        BYTES(400, "GET / HTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /\0 HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /\x7f HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /\rx HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /a#b HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /%zz HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /%2 HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /% HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET /a%00b HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET a HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET * HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET http:///x HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET http://u@a/ HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "GET a:443 HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(501, "CONNECT a:443 HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(505, "GET / HTTP/2.0\r\n" HOST "\r\n"),
        BYTES(505, "GET / HTTP/0.9\r\n" HOST "\r\n"),
        BYTES(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        BYTES(400, "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "\nGET / HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "\rGET / HTTP/1.1\r\n" HOST "\r\n"),
        BYTES(400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        BYTES(400, "\x80\x2e\x01"),
        BYTES(400, "\0"),
    };
    (void)state;
    REFUSE_EACH(cases);
}

static void wrong_lines_and_names(void **state)
{
#define WITH(line) "GET / HTTP/1.1\r\n" HOST line "\r\n"
    static const struct refusal cases[] = {
        BYTES(400, "GET / HTTP/1.1\n" HOST "\r\n"),
        BYTES(400, "GET / HTTP/1.1\r\nHost: a\n\r\n"),
        BYTES(400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        BYTES(400, "GET / HTTP/1.1\n\n"),
        BYTES(400, WITH("X: a\rb\r\n")),
        BYTES(400, WITH("X: a\r\r\n")),
        BYTES(400, WITH("X\r: a\r\n")),
        BYTES(400, WITH("X : a\r\n")),
        BYTES(400, WITH("X\t: a\r\n")),
        BYTES(400, WITH(" X: a\r\n")),
        BYTES(400, WITH("X: a\r\n b\r\n")),
        BYTES(400, WITH("X: a\r\n\tb\r\n")),
        BYTES(400, WITH(": a\r\n")),
        BYTES(400, WITH("X\r\n")),
        BYTES(400, WITH("X Y: a\r\n")),
        BYTES(400, WITH("X(: a\r\n")),
        BYTES(400, WITH("X\0: a\r\n")),
        BYTES(400, WITH("X\xe4: a\r\n")),
        BYTES(400, WITH("X: a\0b\r\n")),
        BYTES(400, WITH("X: a\x01z\r\n")),
        BYTES(400, WITH("X: longer than eight \x7f bytes\r\n")),
        BYTES(400, WITH("X_Y: a\x0b\r\n")),
    };
    (void)state;
    REFUSE_EACH(cases);
}

static void wrong_hosts(void **state)
{
#define HOSTED(value) "GET / HTTP/1.1\r\nHost: " value "\r\n\r\n"
    static const struct refusal cases[] = {
        BYTES(400, "GET / HTTP/1.1\r\n\r\n"),
        BYTES(400, "GET http://a/ HTTP/1.1\r\n\r\n"),
        BYTES(400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        BYTES(400, "GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n"),
        BYTES(400, "GET / HTTP/1.0\r\nHost: a b\r\n\r\n"),
        BYTES(400, HOSTED("")),
        BYTES(400, HOSTED("a/b")),
        BYTES(400, HOSTED("a, b")),
        BYTES(400, HOSTED("u@a")),
        BYTES(400, HOSTED("a:b")),
        BYTES(400, HOSTED("a:65536")),
        BYTES(400, HOSTED("a:1:2")),
        BYTES(400, HOSTED(":80")),
        BYTES(400, HOSTED("[::1")),
        BYTES(400, HOSTED("[]")),
        BYTES(400, HOSTED("[::1]x")),
        BYTES(400, HOSTED("[::1]:x")),
        BYTES(400, HOSTED("a%2")),
        BYTES(400, HOSTED("a%zz")),
        BYTES(400, HOSTED("\xc3\xa4")),
    };
    (void)state;
    REFUSE_EACH(cases);
}

static void ambiguous_ends(void **state)
{
#define POSTED(lines) "POST / HTTP/1.1\r\n" HOST lines "\r\n0\r\n\r\n"
    static const struct refusal cases[] = {
        BYTES(400, POSTED("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")),
        BYTES(400, POSTED("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")),
        BYTES(400, POSTED("Content-Length: 5\r\nContent-Length: 5\r\n")),
        BYTES(400, POSTED("Content-Length: 5\r\ncontent-length: 6\r\n")),
        BYTES(400, POSTED("Content-Length: 5, 5\r\n")),
        BYTES(400, POSTED("Content-Length:\r\n")),
        BYTES(400, POSTED("Content-Length: +5\r\n")),
        BYTES(400, POSTED("Content-Length: -5\r\n")),
        BYTES(400, POSTED("Content-Length: 0x5\r\n")),
        BYTES(400, POSTED("Content-Length: 5 5\r\n")),
        BYTES(400, POSTED("Content-Length: 5a\r\n")),
        BYTES(400, POSTED("Content-Length: 9223372036854775808\r\n")),
        BYTES(400, POSTED("Content-Length: 18446744073709551621\r\n")),
        BYTES(400, POSTED("Content-Length : 5\r\n")),
        BYTES(501, POSTED("Transfer-Encoding: gzip, chunked\r\n")),
        BYTES(501, POSTED("Transfer-Encoding: chunked, chunked\r\n")),
        BYTES(501, POSTED("Transfer-Encoding: identity\r\n")),
        BYTES(501, POSTED("Transfer-Encoding: xchunked\r\n")),
        BYTES(501, POSTED("Transfer-Encoding: \"chunked\"\r\n")),
        BYTES(501, POSTED("Transfer-Encoding:\r\n")),
        BYTES(400, POSTED("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
        BYTES(400, POSTED("Transfer-Encoding:\x0b"
                          "chunked\r\n")),
        BYTES(400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        BYTES(417, POSTED("Expect: 200-ok\r\nContent-Length: 1\r\n")),
        BYTES(417, POSTED("Expect: 100-continue, x\r\n")),
    };
    (void)state;
    REFUSE_EACH(cases);
}

static void wrong_chunks(void **state)
{
#define CHUNKED(body) "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n" body
    static const struct refusal cases[] = {
        BYTES(400, CHUNKED("\r\n")),
        BYTES(400, CHUNKED("x\r\n")),
        BYTES(400, CHUNKED("0x5\r\nabcde\r\n0\r\n\r\n")),
        BYTES(400, CHUNKED("-1\r\n")),
        BYTES(400, CHUNKED(" 5\r\nabcde\r\n")),
        BYTES(400, CHUNKED("5 \r\nabcde\r\n")),
        BYTES(400, CHUNKED("5\nabcde\r\n")),
        BYTES(400, CHUNKED("5\rabcde\r\n")),
        BYTES(400, CHUNKED("5\r\nabcdef\r\n")),
        BYTES(400, CHUNKED("5\r\nabcde\n")),
        BYTES(400, CHUNKED("5\r\nabcde\rx")),
        BYTES(400, CHUNKED("5\r\nabcde0\r\n\r\n")),
        BYTES(400, CHUNKED("5;a\nb\r\n")),
        BYTES(400, CHUNKED("5;a\0\r\n")),
        BYTES(400, CHUNKED("5 x\r\n")),
        BYTES(400, CHUNKED(";a\r\n")),
        BYTES(400, CHUNKED("10000000000000000\r\n")),
        BYTES(400, CHUNKED("fffffffffffffffff\r\n")),
        BYTES(400, CHUNKED("0000000000000005\r\nabcde\r\n")),
        BYTES(400, CHUNKED("0\r\nX\r\n\r\n")),
        BYTES(400, CHUNKED("0\r\nX : a\r\n\r\n")),
        BYTES(400, CHUNKED("0\r\nX: a\n\r\n")),
        BYTES(400, CHUNKED("0\r\nX: a\r\n b\r\n\r\n")),
        BYTES(400, CHUNKED("0\r\n: a\r\n\r\n")),
        BYTES(400, CHUNKED("0\r\nX: \0\r\n\r\n")),
        BYTES(400, CHUNKED("0\r\n\n")),
        BYTES(400, CHUNKED("0\r\n\rx")),
        BYTES(400, CHUNKED("0\n\n")),
    };
    (void)state;
    REFUSE_EACH(cases);
}

static void a_get(void **state)
{
    struct fake_session fake;
    (void)state;

    feed_in_every_split(&fake, cc_plugin.ops.protocol, &defaults,
                        CC_SPAN("GET /a%20b%2Fc/%E4?x=%20&y HTTP/1.1\r\n"
                                "Host: [::1]:80\r\n"
                                "Accept:\t text/html, */* \t\r\n"
                                "X-Empty:\r\n"
                                "Cookie: a=1\r\n"
                                "x-list: 1\r\n"
                                "COOKIE: b=2\r\n"
                                "X-List: 2\r\n"
                                "Content-Type: text/plain\r\n"
                                "X-List:\r\n\r\n"));
    assert_int_equal(fake.requests, 1);
    assert_int_equal(fake.fate, FAKE_OPEN);
    assert_string_equal(fake_var(&fake, "REQUEST_METHOD"), "GET");
    assert_string_equal(fake_var(&fake, "REQUEST_URI"), "/a%20b%2Fc/%E4?x=%20&y");
    assert_string_equal(fake_var(&fake, "SCRIPT_NAME"), "");
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "/a b/c/\xe4");
    assert_string_equal(fake_var(&fake, "QUERY_STRING"), "x=%20&y");
    assert_string_equal(fake_var(&fake, "SERVER_PROTOCOL"), "HTTP/1.1");
    assert_string_equal(fake_var(&fake, "SERVER_NAME"), "example.org");
    assert_string_equal(fake_var(&fake, "SERVER_PORT"), "8000");
    assert_string_equal(fake_var(&fake, "REMOTE_ADDR"), "192.0.2.1");
    assert_string_equal(fake_var(&fake, "REMOTE_PORT"), "4711");
    assert_string_equal(fake_var(&fake, "HTTP_HOST"), "[::1]:80");
    assert_string_equal(fake_var(&fake, "HTTP_ACCEPT"), "text/html, */*");
    assert_string_equal(fake_var(&fake, "HTTP_X_EMPTY"), "");
    assert_string_equal(fake_var(&fake, "HTTP_COOKIE"), "a=1; b=2");
    assert_string_equal(fake_var(&fake, "HTTP_X_LIST"), "1, 2, ");
    assert_string_equal(fake_var(&fake, "CONTENT_TYPE"), "text/plain");
    assert_null(fake_var(&fake, "HTTP_CONTENT_TYPE"));
    assert_null(fake_var(&fake, "CONTENT_LENGTH"));
    assert_null(fake_var(&fake, "HTTPS"));
    fake_close(&fake);
}

static void headers_that_never_reach_the_app(void **state)
{
    struct fake_session fake;
    (void)state;

    feed_in_every_split(&fake, cc_plugin.ops.protocol, &defaults,
                        CC_SPAN("GET / HTTP/1.1\r\n" HOST "X_Real_IP: 6.6.6.6\r\n"
                                "X-Real_Ip: 6.6.6.6\r\n"
                                "X-Real-IP: 127.0.0.1\r\n"
                                "Content_Length: 100\r\n"
                                "Transfer_Encoding: chunked\r\n"
                                "Proxy: http://evil/\r\n\r\n"));
    assert_int_equal(fake.requests, 1);
    assert_string_equal(fake_var(&fake, "HTTP_X_REAL_IP"), "127.0.0.1");
    assert_null(fake_var(&fake, "CONTENT_LENGTH"));
    assert_null(fake_var(&fake, "HTTP_TRANSFER_ENCODING"));
    assert_null(fake_var(&fake, "HTTP_PROXY"));
    fake_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_request_lines),
        cmocka_unit_test(wrong_lines_and_names),
        cmocka_unit_test(wrong_hosts),
        cmocka_unit_test(ambiguous_ends),
        cmocka_unit_test(wrong_chunks),
        cmocka_unit_test(a_get),
        cmocka_unit_test(headers_that_never_reach_the_app),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
