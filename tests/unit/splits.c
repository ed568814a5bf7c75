/* See splits.h. */
#include "cc_test.h"

#include "splits.h"

/* Feeds the bytes with a cut at first, and then in pieces of size each. */
static void compare(const struct fake_session *whole, const void *settings, struct cc_span bytes,
                    size_t first, size_t size)
{
    struct fake_session fake;

    fake_open(&fake, whole->protocol, settings);
    fake.body_limit = whole->body_limit;
    fake_feed(&fake, bytes.at, first);
    for (size_t at = first; at < bytes.len; at += size)
        fake_feed(&fake, bytes.at + at, bytes.len - at < size ? bytes.len - at : size);
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
    /* So that comparing empty ones is comparing memory. */
    cc_buf_text(&fake->told);
    cc_buf_text(&fake->out);
    compare(fake, settings, bytes, 0, 1);
    for (size_t cut = 1; cut < bytes.len; cut++)
        compare(fake, settings, bytes, cut, bytes.len);
}
