/* One request, in the words of CGI: what a protocol plugin fills and an app plugin reads.
 *
 * Owned by the loop until it is queued, then by the app thread that takes it until the reply's
 * end(), then by the loop again. Every span lives in the arena, in the connection, or is static:
 * all of them stay valid until end(). */
#ifndef CC_REQUEST_REQUEST_H
#define CC_REQUEST_REQUEST_H

#include "base/arena.h"
#include "base/span.h"
#include "request/body.h"

struct cc_pair {
    struct cc_span name, value;
};

struct cc_request {
    struct cc_arena arena;
    /* CGI variables (RFC 3875, PEP 3333): REQUEST_METHOD, PATH_INFO, HTTP_X and the rest, in the
     * order in which they came. A name may come twice; the last one counts. */
    struct cc_pair *vars;
    size_t n_vars, vars_cap;
    /* For the access log and the container's own decisions; also among vars. */
    struct cc_span method, uri, protocol, remote_addr;
    struct cc_body body;
};

/* Makes zeroed memory a request without anything in it. */
void cc_request_init(struct cc_request *request);
/* Adds a variable; both spans must live as long as the request. */
void cc_request_add_var(struct cc_request *request, struct cc_span name, struct cc_span value);
/* The last value of a variable, or NULL. */
const struct cc_span *cc_request_var(const struct cc_request *request, struct cc_span name);
/* Forgets all but the memory, for the next request of the connection. */
void cc_request_reset(struct cc_request *request);
/* Frees what it holds. */
void cc_request_clear(struct cc_request *request);

#endif
