/* The body of a request, whole before the app sees it: in memory, or past a limit in a file without
 * a name. Filled by the loop, then read by the app thread that owns the request; never both. */
#ifndef CC_REQUEST_BODY_H
#define CC_REQUEST_BODY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct cc_body {
    int64_t length;       /* bytes that have arrived; all of them once the request is ready */
    int64_t position;     /* what the app has read so far */
    struct cc_buf memory; /* the bytes while fd < 0 */
    int fd;               /* >= 0: all bytes are in this file; owned */
    bool chunked;         /* its length was not announced (HTTP chunked coding) */
};

/* Adds bytes; past memory_limit bytes the whole body moves to a file. false: the file cannot be
 * made or written; err has the status 500 and the reason. */
bool cc_body_append(struct cc_body *body, const char *bytes, size_t len, int64_t memory_limit,
                    struct cc_err *err);
/* Reads on from position: up to len bytes, 0 at the end, -1 with errno set when the file fails. */
ssize_t cc_body_read(struct cc_body *body, char *to, size_t len);
/* Frees the memory or closes the file, and makes it an empty body again. */
void cc_body_clear(struct cc_body *body);

#endif
