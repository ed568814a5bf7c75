/* The head of a response, as an app gives it and a protocol writes it. Lent for one call. */
#ifndef CC_REQUEST_RESPONSE_H
#define CC_REQUEST_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "request/request.h"

struct cc_response {
    int status;                    /* 200, ... */
    struct cc_span reason;         /* "OK"; may be empty */
    const struct cc_pair *headers; /* without CR, LF or NUL in names and values */
    size_t n_headers;
    int64_t length;      /* of the body; -1: unknown until the end */
    bool close;          /* set by the host: the connection shall close after this */
    struct cc_span date; /* set by the host: value of a Date header, should the app have none */
};

/* What a protocol has to know of a header that an app gives. */
enum cc_header_kind {
    CC_HEADER_OTHER,
    CC_HEADER_DATE,
    CC_HEADER_LENGTH,     /* Content-Length */
    CC_HEADER_CONNECTION, /* Connection */
    CC_HEADER_HOP,        /* the other hop-by-hop headers that speak of framing or the connection:
                             they are the protocol's to write (RFC 9110 7.6.1) */
};
enum cc_header_kind cc_response_header_kind(struct cc_span name);
/* The standard phrase of a status (RFC 9110 15, IANA's registry), or "Unknown". */
struct cc_span cc_response_reason(int status);
/* false for 1xx, 204 and 304, which never have a body (RFC 9110 6.4.1). */
bool cc_response_may_have_body(int status);
/* The length of the body as the app gave it, in a header or by count; -1: unknown (also when its
 * Content-Length is no number). */
int64_t cc_response_length(const struct cc_response *response);
/* Of len bytes of body those that may still be sent: what a Content-Length leaves (*left, which is
 * made less by them), or all of them where there is none (-1). */
size_t cc_response_take(int64_t *left, size_t len);
/* Appends a whole HTTP/1.1 response of plain text that ends the connection; text: one line. */
void cc_response_append_refusal(struct cc_buf *out, int status, const char *text);

#endif
