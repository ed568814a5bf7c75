/* plugins/http: chunked request bodies. */
#include "cc_test.h"

#include <string.h>

#include "http/http_chunked.h"
#include "http/http_settings.h"
#include "plugin/abi.h"
#include "splits.h"

extern const struct cc_plugin cc_plugin;

static const struct cc_http_settings defaults = {65536, 16384, 100, 0};

#define HOST                "Host: a\r\n"
#define BYTES(status, text) CC_REFUSAL(status, text)
#define REFUSE_EACH(cases)                                                                         \
    refuse_each(cc_plugin.ops.protocol, &defaults, cases, sizeof(cases) / sizeof(cases)[0])

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

static void bodies_that_are_taken(void **state)
{
    static const struct {
        struct cc_span bytes;
        const char *body;
    } cases[] = {
        {CC_SPAN(CHUNKED("0\r\n\r\n")), ""},
        {CC_SPAN(CHUNKED("5\r\nabcde\r\n0\r\n\r\n")), "abcde"},
        {CC_SPAN(CHUNKED("1\r\na\r\n00A\r\n\r\n0\r\n\r\nxyz\r\n000\r\n\r\n")), "a\r\n0\r\n\r\nxyz"},
        {CC_SPAN(CHUNKED("a;x=y\r\n0123456789\r\n0;\r\n\r\n")), "0123456789"},
        {CC_SPAN(CHUNKED("3 \t;x=\"a;b\"\r\nabc\r\n0\r\nX-Sum: 1\r\nContent-Length: 7\r\n\r\n")),
         "abc"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake_session fake;
        feed_in_every_split(&fake, cc_plugin.ops.protocol, &defaults, cases[i].bytes);
        assert_int_equal(fake.requests, 1);
        assert_int_equal(fake.fate, FAKE_OPEN);
        assert_true(fake.request.body.chunked);
        assert_int_equal(fake.request.body.length, strlen(cases[i].body));
        assert_memory_equal(cc_buf_text(&fake.request.body.memory), cases[i].body,
                            strlen(cases[i].body));
        /* The length is not known before the body is, and trailers stay outside. */
        assert_null(fake_var(&fake, "CONTENT_LENGTH"));
        assert_null(fake_var(&fake, "HTTP_X_SUM"));
        assert_string_equal(fake_var(&fake, "HTTP_TRANSFER_ENCODING"), "chunked");
        fake_close(&fake);
    }
}

static void the_rest_belongs_to_the_next_request(void **state)
{
    struct fake_session fake;
    (void)state;

    feed_in_every_split(
        &fake, cc_plugin.ops.protocol, &defaults,
        CC_SPAN(CHUNKED("2\r\nab\r\n0\r\n\r\n") "GET /next HTTP/1.1\r\n" HOST "\r\n"));
    assert_int_equal(fake.requests, 2);
    assert_string_equal(fake_var(&fake, "PATH_INFO"), "/next");
    assert_false(fake.request.body.chunked);
    assert_int_equal(fake.request.body.length, 0);
    fake_close(&fake);
}

static void a_body_past_the_limit_is_refused_at_its_size_line(void **state)
{
    const struct cc_http_settings limited = {65536, 16384, 100, 10};
    static const struct refusal cases[] = {
        BYTES(413, CHUNKED("b\r\n")),
        BYTES(413, CHUNKED("5\r\nabcde\r\n6\r\n")),
        BYTES(413, CHUNKED("fffffffffffffff\r\n")),
    };
    struct fake_session fake;
    (void)state;

    refuse_each(cc_plugin.ops.protocol, &limited, cases, sizeof cases / sizeof cases[0]);
    feed_in_every_split(&fake, cc_plugin.ops.protocol, &limited,
                        CC_SPAN(CHUNKED("5\r\nabcde\r\n5\r\nabcde\r\n0\r\n\r\n")));
    assert_int_equal(fake.requests, 1);
    fake_close(&fake);
}

/* Feeds the decoder many bytes of overhead; returns whether it put up with them. */
static bool takes_overhead(const char *start, char filler, size_t count)
{
    struct cc_http_chunked chunked = {0};
    struct cc_span data;
    struct cc_err err;
    char bytes[512];

    memset(bytes, filler, sizeof bytes);
    assert_int_equal(cc_http_chunked_take(&chunked, cc_span_of(start), 0, &data, &err),
                     strlen(start));
    for (size_t i = 0; i < count; i += sizeof bytes)
        if (cc_http_chunked_take(&chunked, (struct cc_span){bytes, sizeof bytes}, 0, &data, &err) ==
            SIZE_MAX) {
            assert_int_equal(err.status, 431);
            return false;
        }
    return true;
}

static void overhead_is_limited(void **state)
{
    (void)state;
    assert_true(takes_overhead("5;", 'x', 8192));
    assert_false(takes_overhead("5;", 'x', 20000));
    assert_true(takes_overhead("0\r\nX:", ' ', 8192));
    assert_false(takes_overhead("0\r\nX:", ' ', 20000));
    assert_false(takes_overhead("0\r\nX", 'x', 20000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_chunks),
        cmocka_unit_test(bodies_that_are_taken),
        cmocka_unit_test(the_rest_belongs_to_the_next_request),
        cmocka_unit_test(a_body_past_the_limit_is_refused_at_its_size_line),
        cmocka_unit_test(overhead_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
