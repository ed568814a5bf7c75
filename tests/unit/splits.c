/* See splits.h. */
#include "cc_test.h"

#include <stdio.h>

#include "splits.h"

/* Feeds the bytes with a cut at first, and then in pieces of size each. */
static void compare(const struct fake_session *whole, const void *settings, struct cc_span bytes,
                    size_t first, size_t size)
{
    struct fake_session fake;

    fake_open(&fake, whole->protocol, settings);
    fake.body_limit = whole->body_limit;
    if (first > 0)
        fake_feed(&fake, bytes.at, first);
    for (size_t at = first; at < bytes.len; at += size)
        fake_feed(&fake, bytes.at + at, bytes.len - at < size ? bytes.len - at : size);
    /* So that comparing empty ones is comparing memory. */
    cc_buf_text(&fake.told);
    cc_buf_text(&fake.out);
    if (fake.told.len != whole->told.len || fake.fate != whole->fate ||
        memcmp(fake.told.at, whole->told.at, fake.told.len) != 0)
        fail_msg("cut at %zu in pieces of %zu:\n%.*s\nbut whole:\n%.*s", first, size,
                 (int)fake.told.len, fake.told.at, (int)whole->told.len, whole->told.at);
    assert_int_equal(fake.out.len, whole->out.len);
    assert_memory_equal(fake.out.at, whole->out.at, fake.out.len);
    assert_int_equal(fake.session.phase, whole->session.phase);
    assert_int_equal(fake.protocol->finished(fake.state), whole->protocol->finished(whole->state));
    fake_close(&fake);
}

void feed_in_every_split(struct fake_session *fake, const struct cc_protocol *protocol,
                         const void *settings, struct cc_span bytes)
{
    fake_open(fake, protocol, settings);
    fake_feed(fake, bytes.at, bytes.len);
    cc_buf_text(&fake->told);
    cc_buf_text(&fake->out);
    compare(fake, settings, bytes, 0, 1);
    for (size_t cut = 1; cut < bytes.len; cut++)
        compare(fake, settings, bytes, cut, bytes.len);
}

static void check_answer(struct fake_session *fake, int status)
{
    char expected[32];

    if (status == 0) {
        assert_int_equal(fake->out.len, 0);
        return;
    }
    snprintf(expected, sizeof expected, "HTTP/1.1 %d ", status);
    assert_ptr_equal(strstr(cc_buf_text(&fake->out), expected), fake->out.at);
    assert_non_null(strstr(cc_buf_text(&fake->out), "\r\nConnection: close\r\n"));
}

void refuse_each(const struct cc_protocol *protocol, const void *settings,
                 const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fake_session fake;
        feed_in_every_split(&fake, protocol, settings,
                            (struct cc_span){cases[i].bytes, cases[i].len});
        if (fake.fate != FAKE_REFUSED || fake.err.status != cases[i].status || fake.requests != 0)
            fail_msg("case %zu: expected %d for\n%s\ngot fate %d, %d %s", i, cases[i].status,
                     cases[i].bytes, fake.fate, fake.err.status, fake.err.text);
        check_answer(&fake, cases[i].status);
        fake_close(&fake);
    }
}
