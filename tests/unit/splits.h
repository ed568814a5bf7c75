/* Every way to cut bytes that a test wants: whole, byte by byte, and at each place in two. */
#ifndef CC_TESTS_SPLITS_H
#define CC_TESTS_SPLITS_H

#include "fake_session.h"

/* Runs the bytes through a new connection whole, and leaves that open in *fake for the test to look
 * at (the caller closes it). Then runs them cut in every way and fails the cmocka test where what
 * happened, or what the peer got, is not the same. */
void feed_in_every_split(struct fake_session *fake, const struct cc_protocol *protocol,
                         const void *settings, struct cc_span bytes);

/* Bytes that begin a connection, and the status that they are refused with. */
struct refusal {
    int status;
    const char *bytes;
    size_t len;
};
#define CC_REFUSAL(status, text)                                                                   \
    {                                                                                              \
        (status), (text), sizeof(text) - 1                                                         \
    }
/* Fails the cmocka test where one of them is not refused so in every split, before any request,
 * with an answer of that status that closes the connection (or none, for status 0). */
void refuse_each(const struct cc_protocol *protocol, const void *settings,
                 const struct refusal *cases, size_t count);

#endif
