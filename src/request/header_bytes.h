/* Which bytes may stand where in a header (RFC 9110 5.5, 5.6.2), in requests and in responses.
 * Pure. */
#ifndef CC_REQUEST_HEADER_BYTES_H
#define CC_REQUEST_HEADER_BYTES_H

#include <stdbool.h>

#include "base/span.h"

/* For each byte that a token may have: what it is in the name of a CGI variable (capital letters,
 * '_' for '-'); for every other byte 0. */
extern const unsigned char cc_header_name_bytes[256];

static inline bool cc_is_token_byte(char c)
{
    return cc_header_name_bytes[(unsigned char)c] != 0;
}

/* A control byte that must not stand in a value; the tab may. */
static inline bool cc_is_control(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/* The first control byte other than a tab from at on, or end. */
const char *cc_find_control(const char *at, const char *end);
#endif
