/* What a head is made of, beyond single bytes (RFC 9110 5.6). Pure. */
#ifndef CC_HTTP_HTTP_BYTES_H
#define CC_HTTP_HTTP_BYTES_H

#include <stdbool.h>

#include "request/header_bytes.h"

bool cc_http_is_token(struct cc_span span);

/* The value of a hexadecimal digit, or -1. */
int cc_http_hex(char c);
/* Goes through a comma-separated list: true and the next element that is not empty, without the
 * blanks around it; false at the end. *rest is what is still to be looked at. */
bool cc_http_next_in_list(struct cc_span *rest, struct cc_span *element);

#endif
