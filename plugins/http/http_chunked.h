/* The chunked coding of request bodies (RFC 9112 7.1), decoded in pieces. Pure. */
#ifndef CC_HTTP_HTTP_CHUNKED_H
#define CC_HTTP_HTTP_CHUNKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

/* Where the decoder stands; all zero before the first byte. Belongs to the connection. */
struct cc_http_chunked {
    int step;          /* of the grammar: enum step of http_chunked.c */
    unsigned digits;   /* of the chunk size so far */
    uint64_t size;     /* of the chunk, then what is left of it */
    uint64_t total;    /* of all chunks so far */
    uint32_t overhead; /* bytes of chunk extensions and trailers so far: limited */
    bool done;         /* the body and its trailers are whole */
};

/* Takes bytes up to the end of the next piece of data, of the body, or of the input; *data is the
 * piece, empty when there is none (it lies in bytes). limit: most bytes of a body, 0: none.
 * Returns how many bytes it took; SIZE_MAX: the coding is broken, err has text and status.
 * Extensions and trailers are checked, limited and dropped: they never reach the app. */
size_t cc_http_chunked_take(struct cc_http_chunked *chunked, struct cc_span bytes, int64_t limit,
                            struct cc_span *data, struct cc_err *err);

#endif
