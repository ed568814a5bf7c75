/* Every way to cut bytes that a test wants: whole, byte by byte, and at each place in two. */
#ifndef CC_TESTS_SPLITS_H
#define CC_TESTS_SPLITS_H

#include "fake_session.h"

/* Runs the bytes through a new connection whole, and leaves that open in *fake for the test to look
 * at (the caller closes it). Then runs them cut in every way and fails the cmocka test where what
 * happened, or what the peer got, is not the same. */
void feed_in_every_split(struct fake_session *fake, const struct cc_protocol *protocol,
                         const void *settings, struct cc_span bytes);

#endif
