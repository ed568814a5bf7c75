/* src/base and src/request: memory, text, addresses, bodies. */
#include "cc_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/address.h"
#include "base/buf.h"
#include "base/span.h"
#include "request/request.h"

static void numbers_are_digits_within_bounds(void **state)
{
    uint64_t number = 7;
    (void)state;

    assert_true(cc_span_to_number(CC_SPAN("0"), 10, &number));
    assert_int_equal(number, 0);
    assert_true(cc_span_to_number(CC_SPAN("18446744073709551615"), UINT64_MAX, &number));
    assert_true(number == UINT64_MAX);
    assert_false(cc_span_to_number(CC_SPAN("18446744073709551616"), UINT64_MAX, &number));
    assert_false(cc_span_to_number(CC_SPAN("11"), 10, &number));
    assert_false(cc_span_to_number(CC_SPAN(""), 10, &number));
    assert_false(cc_span_to_number(CC_SPAN("-1"), 10, &number));
    assert_false(cc_span_to_number(CC_SPAN("1 "), 10, &number));
}

static void case_and_blanks(void **state)
{
    (void)state;
    assert_true(cc_span_equal_nocase(CC_SPAN("Close"), CC_SPAN("cLOSE")));
    assert_false(cc_span_equal_nocase(CC_SPAN("Close"), CC_SPAN("Closes")));
    assert_false(cc_span_equal_nocase(CC_SPAN("["), CC_SPAN("{")));
    assert_true(cc_span_equal(cc_span_trim(CC_SPAN(" \tx y\t ")), CC_SPAN("x y")));
    assert_int_equal(cc_span_trim(CC_SPAN(" \t ")).len, 0);
}

static void arena_pieces_are_apart_and_reusable(void **state)
{
    struct cc_arena arena = {0};
    (void)state;

    for (int round = 0; round < 3; round++) {
        struct cc_span spans[300];
        for (size_t i = 0; i < 300; i++) {
            char text[64];
            int len = snprintf(text, sizeof text, "piece %zu of round %d", i, round);
            spans[i] = cc_arena_copy(&arena, text, (size_t)len);
            assert_int_equal((uintptr_t)cc_arena_alloc(&arena, 24) % 16, 0);
        }
        memset(cc_arena_alloc(&arena, 100000), 'x', 100000);
        for (size_t i = 0; i < 300; i++) {
            char text[64];
            snprintf(text, sizeof text, "piece %zu of round %d", i, round);
            assert_string_equal(spans[i].at, text);
        }
        cc_arena_reset(&arena);
    }
    cc_arena_clear(&arena);
}

static void buffers_grow(void **state)
{
    struct cc_buf buf = {0};
    (void)state;

    for (int i = 0; i < 1000; i++)
        cc_buf_printf(&buf, "%04d", i);
    assert_int_equal(buf.len, 4000);
    assert_string_equal(cc_buf_text(&buf) + 3996, "0999");
    cc_buf_clear(&buf);
    cc_buf_append_number(&buf, 0);
    cc_buf_append_number(&buf, UINT64_MAX);
    assert_string_equal(cc_buf_text(&buf), "018446744073709551615");
    cc_buf_clear(&buf);
}

static void inet_addresses(void **state)
{
    struct cc_address address;
    struct cc_err err;
    (void)state;

    assert_true(cc_address_parse("127.0.0.1:8000", &address, &err));
    assert_int_equal(address.kind, CC_ADDRESS_INET);
    assert_int_equal(cc_address_port(&address.sock), 8000);
    assert_true(cc_address_parse(":5000", &address, &err));
    assert_int_equal(((struct sockaddr_in *)&address.sock)->sin_addr.s_addr, htonl(INADDR_ANY));
    assert_true(cc_address_parse("[::1]:99", &address, &err));
    assert_int_equal(address.sock.ss_family, AF_INET6);
    assert_false(cc_address_parse("127.0.0.1:http", &address, &err));
    assert_false(cc_address_parse("127.0.0.1:65536", &address, &err));
    assert_false(cc_address_parse("[::1]", &address, &err));
    assert_false(cc_address_parse("", &address, &err));
    assert_false(cc_address_parse("8000", &address, &err));
    assert_non_null(strstr(err.text, "\":8000\""));
}

static void other_addresses(void **state)
{
    struct cc_address address;
    struct cc_err err;
    char path[200] = "/";
    (void)state;

    assert_true(cc_address_parse("/run/app.sock", &address, &err));
    assert_string_equal(((struct sockaddr_un *)&address.sock)->sun_path, "/run/app.sock");
    assert_true(cc_address_parse("app.sock", &address, &err));
    assert_int_equal(address.kind, CC_ADDRESS_UNIX);
    assert_true(cc_address_parse("@name", &address, &err));
    assert_int_equal(address.kind, CC_ADDRESS_ABSTRACT);
    assert_true(cc_address_parse("fd://3", &address, &err));
    assert_int_equal(address.fd, 3);
    assert_true(cc_address_parse("fd://web.socket", &address, &err));
    assert_int_equal(address.fd, -1);
    assert_string_equal(address.path, "web.socket");
    assert_false(cc_address_parse("fd://", &address, &err));
    assert_false(cc_address_parse("fd://-1", &address, &err));
    assert_false(cc_address_parse("fd://3x", &address, &err));
    assert_false(cc_address_parse("fd://a:b", &address, &err));
    memset(path + 1, 'a', 120);
    assert_false(cc_address_parse(path, &address, &err));
    assert_non_null(strstr(err.text, "121 bytes"));
}

static void body_is_the_same_in_memory_and_file(void **state)
{
    (void)state;
    for (int64_t limit = 0; limit < 40; limit += 13) {
        struct cc_request request;
        struct cc_err err;
        char back[64];
        size_t have = 0;

        cc_request_init(&request);
        for (int i = 0; i < 6; i++)
            assert_true(cc_body_append(&request.body, "abcde", 5, limit, &err));
        assert_int_equal(request.body.fd >= 0, limit < 30);
        for (;;) {
            ssize_t got = cc_body_read(&request.body, back + have, 4);
            assert_true(got >= 0);
            if (got == 0)
                break;
            have += (size_t)got;
        }
        assert_int_equal(have, 30);
        assert_memory_equal(back, "abcdeabcdeabcdeabcdeabcdeabcde", 30);
        cc_request_clear(&request);
    }
}

static void the_last_variable_counts(void **state)
{
    struct cc_request request;
    (void)state;

    cc_request_init(&request);
    for (int i = 0; i < 100; i++)
        cc_request_add_var(&request, CC_SPAN("A"), CC_SPAN("1"));
    cc_request_add_var(&request, CC_SPAN("A"), CC_SPAN("2"));
    assert_int_equal(cc_request_var(&request, CC_SPAN("A"))->at[0], '2');
    assert_null(cc_request_var(&request, CC_SPAN("B")));
    cc_request_reset(&request);
    assert_null(cc_request_var(&request, CC_SPAN("A")));
    cc_request_clear(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_digits_within_bounds),
        cmocka_unit_test(case_and_blanks),
        cmocka_unit_test(arena_pieces_are_apart_and_reusable),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(inet_addresses),
        cmocka_unit_test(other_addresses),
        cmocka_unit_test(body_is_the_same_in_memory_and_file),
        cmocka_unit_test(the_last_variable_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
