/* The smallest protocol: a line is a request, its text the uri; the answer is the body as it is,
 * cut where its length says, and a line "." at its end. "quit" closes after the answer. For tests
 * of the server. */
#ifndef CC_LINE_PROTOCOL_H
#define CC_LINE_PROTOCOL_H

#include "plugin/protocol.h"

extern const struct cc_protocol line_protocol;

#endif
