/* The headers that say where a request ends and whether the connection goes on. Pure. */
#ifndef CC_HTTP_HTTP_FIELDS_H
#define CC_HTTP_HTTP_FIELDS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"
#include "request/request.h"

/* What the head says of its request; all zero before the first header. Belongs to whoever parses.
 */
struct cc_http_framing {
    int minor; /* of HTTP/1.x: 0, or 1 for every later one */
    bool has_host, has_length, chunked;
    bool close, keep_alive; /* tokens of Connection */
    bool expects_continue;  /* Expect: 100-continue (never with HTTP/1.0) */
    uint64_t length;        /* of the body */
};

enum cc_http_fate {
    CC_HTTP_REFUSE, /* err has text and status */
    CC_HTTP_PASS,   /* becomes a variable with HTTP_ before its name */
    CC_HTTP_CGI,    /* becomes a variable without HTTP_ (CONTENT_TYPE, CONTENT_LENGTH) */
    CC_HTTP_DROP,   /* never reaches the app */
};

/* Looks at one header; field->name is as it is in the variable, without HTTP_ (CONTENT_LENGTH). */
enum cc_http_fate cc_http_field(struct cc_http_framing *framing, const struct cc_pair *field,
                                struct cc_err *err);
/* After the last header: whether all of them together make sense. false: err. */
bool cc_http_framing_check(const struct cc_http_framing *framing, struct cc_err *err);

#endif
