/* The head of a response, as an app gives it and a protocol writes it. Lent for one call. */
#ifndef CC_REQUEST_RESPONSE_H
#define CC_REQUEST_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include "request/request.h"

struct cc_response {
    int status;                    /* 200, ... */
    struct cc_span reason;         /* "OK"; may be empty */
    const struct cc_pair *headers; /* without CR, LF or NUL in names and values */
    size_t n_headers;
    int64_t length;        /* of the body; -1: unknown until the end */
    bool length_is_header; /* Content-Length is among headers already */
    bool close;            /* set by the host: the connection shall close after this */
    struct cc_span date;   /* set by the host: value of a Date header, should the app have none */
};

#endif
