/* plugins/http: heads. Every case comes whole, byte by byte, and cut at each place in two. */
#include "cc_test.h"

#include "http/http_bytes.h"
#include "http/http_settings.h"
#include "http/http_target.h"
#include "plugin/abi.h"
#include "splits.h"

extern const struct cc_plugin cc_plugin;

static const struct cc_http_settings defaults = {65536, 16384, 100, 0};

#define HOST                "Host: a\r\n"
#define BYTES(status, text) CC_REFUSAL(status, text)
#define REFUSE_EACH(cases)                                                                         \
    refuse_each(cc_plugin.ops.protocol, &defaults, cases, sizeof(cases) / sizeof(cases)[0])

static void feed(struct fake_session *fake, struct cc_span bytes)
{
    feed_in_every_split(fake, cc_plugin.ops.protocol, &defaults, bytes);
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
#define WITHOUT_END(line) "GET / HTTP/1.1\r\n" HOST line
#define WITH(line)        "GET / HTTP/1.1\r\n" HOST line "\r\n"
    static const struct refusal cases[] = {
        BYTES(400, "GET / HTTP/1.1\n" HOST "\r\n"),
        BYTES(400, "GET / HTTP/1.1\r\nHost: a\n\r\n"),
        BYTES(400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        BYTES(400, "GET / HTTP/1.1\n\n"),
        /* at once: who sends such lines waits for an answer already */
        BYTES(400, "GET / HTTP/1.1\n"),
        BYTES(400, WITHOUT_END("X: a\n")),
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
        BYTES(400, POSTED("Transfer-Encoding: chunked, chunked\r\n")),
        BYTES(400, POSTED("Transfer-Encoding: identity\r\n")),
        BYTES(400, POSTED("Transfer-Encoding: xchunked\r\n")),
        BYTES(400, POSTED("Transfer-Encoding: \"chunked\"\r\n")),
        BYTES(400, POSTED("Transfer-Encoding: chunked, gzip\r\n")),
        BYTES(400, POSTED("Transfer-Encoding:\r\n")),
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

static void a_get(void **state)
{
    struct fake_session fake;
    (void)state;

    feed(&fake, CC_SPAN("GET /a%20b%2Fc/%E4?x=%20&y HTTP/1.1\r\n"
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

    feed(&fake, CC_SPAN("GET / HTTP/1.1\r\n" HOST "X_Real_IP: 6.6.6.6\r\n"
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

static void the_absolute_form_wins_over_host(void **state)
{
    struct fake_session fake;
    (void)state;

    feed(&fake, CC_SPAN("GET HTTP://b:81/x?y HTTP/1.1\r\n" HOST "\r\n"));
    assert_string_equal(fake_var(&fake, "HTTP_HOST"), "b:81");
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "/x");
    assert_string_equal(fake_var(&fake, "QUERY_STRING"), "y");
    assert_string_equal(fake_var(&fake, "REQUEST_URI"), "HTTP://b:81/x?y");
    fake_close(&fake);
    feed(&fake, CC_SPAN("GET https://b?y HTTP/1.0\r\n\r\n"));
    assert_string_equal(fake_var(&fake, "HTTP_HOST"), "b");
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "/");
    assert_string_equal(fake_var(&fake, "QUERY_STRING"), "y");
    assert_string_equal(fake_var(&fake, "SERVER_PROTOCOL"), "HTTP/1.0");
    fake_close(&fake);
}

static void targets_that_are_taken(void **state)
{
    static const struct {
        struct cc_span bytes;
        const char *path, *query;
    } cases[] = {
        {CC_SPAN("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), "/", ""},
        {CC_SPAN("GET //a/../b HTTP/1.1\r\n" HOST "\r\n"), "//a/../b", ""},
        {CC_SPAN("GET /?a=%zz&b=? HTTP/1.1\r\n" HOST "\r\n"), "/", "a=%zz&b=?"},
        {CC_SPAN("GET /\xc3\xa4{|}\"<> HTTP/1.1\r\n" HOST "\r\n"), "/\xc3\xa4{|}\"<>", ""},
        {CC_SPAN("X-Y!Z / HTTP/1.9\r\n" HOST "\r\n"), "/", ""},
        {CC_SPAN("\r\nGET /after HTTP/1.1\r\n" HOST "\r\n"), "/after", ""},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake_session fake;
        feed(&fake, cases[i].bytes);
        assert_int_equal(fake.requests, 1);
        assert_int_equal(fake.fate, FAKE_OPEN);
        assert_string_equal(fake_var(&fake, "PATH_INFO"), cases[i].path);
        assert_string_equal(fake_var(&fake, "QUERY_STRING"), cases[i].query);
        fake_close(&fake);
    }
}

static void hosts_that_are_taken(void **state)
{
    static const char *const hosts[] = {
        "a",      "a.b-c_d~e:80", "a:",    "127.0.0.1:8000", "[::1]",
        "[::1]:", "[fe80::1]:1",  "a%20b", "a!$&'()*+,;=b",
    };
    (void)state;

    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        assert_true(cc_http_is_authority(cc_span_of(hosts[i])));
}

static void control_bytes_are_found_anywhere(void **state)
{
    char text[40];
    (void)state;

    for (size_t len = 0; len < sizeof text; len++)
        for (size_t at = 0; at < len; at++)
            for (int byte = 0; byte < 256; byte++) {
                memset(text, len % 2 == 0 ? '\t' : '\xff', len);
                text[at] = (char)byte;
                bool control = (byte < 32 && byte != '\t') || byte == 127;
                assert_ptr_equal(cc_find_control(text, text + len), text + (control ? at : len));
            }
}

/* count headers "A: ..." after a Host, in a head of len bytes. */
static void fill_head(struct cc_buf *buf, size_t headers, size_t len)
{
    cc_buf_printf(buf, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (size_t i = 1; i < headers; i++)
        cc_buf_printf(buf, "A: b\r\n");
    if (len > 0) {
        size_t pad = len - buf->len - strlen("P: \r\n\r\n");
        cc_buf_printf(buf, "P: ");
        memset(cc_buf_reserve(buf, pad), 'x', pad);
        buf->len += pad;
        cc_buf_printf(buf, "\r\n");
    }
    cc_buf_printf(buf, "\r\n");
}

static void expect_status(const struct cc_http_settings *settings, struct cc_buf *buf, int status)
{
    struct fake_session fake;

    feed_in_every_split(&fake, cc_plugin.ops.protocol, settings,
                        (struct cc_span){buf->at, buf->len});
    if (status == 0)
        assert_int_equal(fake.fate, FAKE_OPEN);
    else
        assert_int_equal(fake.err.status, status);
    assert_int_equal(fake.requests, status == 0);
    fake_close(&fake);
    cc_buf_clear(buf);
}

static void limits(void **state)
{
    const struct cc_http_settings small = {256, 40, 5, 0};
    struct cc_buf buf = {0};
    (void)state;

    fill_head(&buf, 5, 0);
    expect_status(&small, &buf, 0);
    fill_head(&buf, 6, 0);
    expect_status(&small, &buf, 431);
    fill_head(&buf, 1, 256);
    expect_status(&small, &buf, 0);
    fill_head(&buf, 1, 257);
    expect_status(&small, &buf, 431);
    fill_head(&buf, 1, 1000);
    buf.len -= 4; /* never ends */
    expect_status(&small, &buf, 431);
    cc_buf_printf(&buf, "\r\nGET /%026d HTTP/1.1\r\nHost: a\r\n\r\n", 0);
    expect_status(&small, &buf, 0);
    cc_buf_printf(&buf, "GET /%027d HTTP/1.1\r\nHost: a\r\n\r\n", 0);
    expect_status(&small, &buf, 414);
    cc_buf_printf(&buf, "GET /%0300d", 0);
    expect_status(&small, &buf, 414);
}

/* A header repeated as often as is allowed, each time long, is joined once and not each time. */
static void joining_is_linear(void **state)
{
    struct fake_session fake;
    struct cc_buf buf = {0};
    (void)state;

    cc_buf_printf(&buf, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 99; i++)
        cc_buf_printf(&buf, "X: %0600d\r\n", i);
    cc_buf_printf(&buf, "\r\n");
    fake_open(&fake, cc_plugin.ops.protocol, &defaults);
    fake_feed(&fake, buf.at, buf.len);
    assert_int_equal(fake.requests, 1);
    assert_int_equal(strlen(fake_var(&fake, "HTTP_X")), 99 * 600 + 98 * 2);
    fake_close(&fake);
    cc_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_request_lines),
        cmocka_unit_test(wrong_lines_and_names),
        cmocka_unit_test(wrong_hosts),
        cmocka_unit_test(ambiguous_ends),
        cmocka_unit_test(a_get),
        cmocka_unit_test(headers_that_never_reach_the_app),
        cmocka_unit_test(the_absolute_form_wins_over_host),
        cmocka_unit_test(targets_that_are_taken),
        cmocka_unit_test(hosts_that_are_taken),
        cmocka_unit_test(control_bytes_are_found_anywhere),
        cmocka_unit_test(limits),
        cmocka_unit_test(joining_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
