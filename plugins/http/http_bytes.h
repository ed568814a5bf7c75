/* Which bytes may stand where in a head (RFC 9110 5.5, 5.6.2). Pure. */
#ifndef CC_HTTP_HTTP_BYTES_H
#define CC_HTTP_HTTP_BYTES_H

#include <stdbool.h>

#include "base/span.h"

/* For each byte that a token may have: what it is in the name of a CGI variable (capital letters,
 * '_' for '-'); for every other byte 0. */
extern const unsigned char cc_http_name_bytes[256];

static inline bool cc_http_is_token_byte(char c)
{
    return cc_http_name_bytes[(unsigned char)c] != 0;
}

bool cc_http_is_token(struct cc_span span);

/* A control byte that must not stand in a value; the tab may. */
static inline bool cc_http_is_control(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/* The first control byte other than a tab from at on, or end. */
const char *cc_http_find_control(const char *at, const char *end);
/* The value of a hexadecimal digit, or -1. */
int cc_http_hex(char c);
/* Goes through a comma-separated list: true and the next element that is not empty, without the
 * blanks around it; false at the end. *rest is what is still to be looked at. */
bool cc_http_next_in_list(struct cc_span *rest, struct cc_span *element);

#endif
