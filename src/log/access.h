/* The access log: one line a request, in uWSGI's default format, so that what reads uWSGI's logs
 * reads ours. */
#ifndef CC_LOG_ACCESS_H
#define CC_LOG_ACCESS_H

#include <stdint.h>

#include "request/request.h"

/* Facts of one answered request. */
struct cc_access {
    const struct cc_request *request;
    int status;
    uint64_t header_bytes; /* of the response's head */
    uint64_t body_bytes;   /* of the response's body, as the app gave it */
    uint32_t n_headers;    /* in the response */
    int64_t duration_ns;   /* from the request being whole to the response's end */
    int worker;            /* counts from 1 */
    int thread;            /* counts from 0 */
    uint64_t worker_requests, total_requests; /* so far: this worker's and all workers' */
};

/* Writes the line with one write(2) to standard error. Control bytes from the peer are escaped.
 * Any thread. */
void cc_access_log(const struct cc_access *access);

#endif
