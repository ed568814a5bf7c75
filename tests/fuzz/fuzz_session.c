/* See fuzz_session.h. */
#include "fuzz_session.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
    abort();
}

/* Sizes of pieces: small ones mostly, since that is where heads and size lines get cut. */
static size_t next_size(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t bits = *seed >> 33;
    return 1 + (size_t)(bits % (bits % 7 == 0 ? 997 : 13));
}

static uint64_t hash(const uint8_t *bytes, size_t len)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void open_one(struct fake_session *fake, const struct fuzz_setup *setup)
{
    fake_open(fake, setup->protocol, setup->settings);
    fake->answer = setup->answer;
    fake->body_limit = setup->body_limit;
    fake->check = setup->check;
}

static void show(const char *what, const struct fake_session *fake)
{
    fprintf(stderr, "--- %s: fate %d, phase %d\n%.*s", what, fake->fate, fake->session.phase,
            (int)fake->told.len, fake->told.at == NULL ? "" : fake->told.at);
}

static bool same(const struct cc_buf *a, const struct cc_buf *b)
{
    return cc_span_equal((struct cc_span){a->at, a->len}, (struct cc_span){b->at, b->len});
}

static void compare(const struct fake_session *whole, const struct fake_session *pieces)
{
    if (whole->fate == pieces->fate && whole->session.phase == pieces->session.phase &&
        same(&whole->told, &pieces->told) && same(&whole->out, &pieces->out) &&
        whole->protocol->finished(whole->state) == pieces->protocol->finished(pieces->state))
        return;
    show("whole", whole);
    show("in pieces", pieces);
    abort();
}

static void run_split(const struct fake_session *whole, const struct fuzz_setup *setup,
                      struct cc_span bytes, uint64_t seed)
{
    struct fake_session pieces;

    open_one(&pieces, setup);
    while (bytes.len > 0 && pieces.fate == FAKE_OPEN) {
        size_t size = seed == 0 ? 1 : next_size(&seed);
        if (size > bytes.len)
            size = bytes.len;
        fake_feed(&pieces, bytes.at, size);
        bytes = (struct cc_span){bytes.at + size, bytes.len - size};
    }
    compare(whole, &pieces);
    fake_close(&pieces);
}

void fuzz_splits(const struct fuzz_setup *setup, const uint8_t *bytes, size_t len)
{
    struct cc_span span = {(const char *)bytes, len};
    struct fake_session whole;

    open_one(&whole, setup);
    if (len > 0)
        fake_feed(&whole, span.at, len);
    run_split(&whole, setup, span, 0);
    run_split(&whole, setup, span, hash(bytes, len) | 1);
    fake_close(&whole);
}
