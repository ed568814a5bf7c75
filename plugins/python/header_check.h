/* Whether what an app gives as status and headers may go on the wire. Pure functions on bytes. */
#ifndef CC_PYTHON_HEADER_CHECK_H
#define CC_PYTHON_HEADER_CHECK_H

#include "base/span.h"

enum cc_app_header {
    CC_APP_HEADER_PLAIN,
    CC_APP_HEADER_LENGTH,
    CC_APP_HEADER_HOP_BY_HOP, /* the server's business (PEP 3333; RFC 2616, 13.5.1) */
    CC_APP_HEADER_NO_TOKEN,   /* no header name at all (RFC 9110, 5.6.2) */
};

enum cc_app_header cc_app_header_kind(struct cc_span name);
/* True when there is no control byte but tab in it, so neither CR, LF nor NUL (RFC 9110, 5.5). */
bool cc_header_value_ok(struct cc_span value);
/* "200 OK" to 200 and "OK". False: not three digits from 200 to 999 and, after a blank, a reason
 * without control bytes. A status under 200 is refused: it cannot end a request (RFC 9110, 15.2).
 */
bool cc_header_parse_status(struct cc_span text, int *status, struct cc_span *reason);

#endif
