/* A response as HTTP/1.1 writes it (RFC 9112 4 to 6): head, framing of the body, end. Pure. */
#ifndef CC_HTTP_HTTP_WRITE_H
#define CC_HTTP_HTTP_WRITE_H

#include "plugin/protocol.h"

/* One response. The first three are set when its request is whole; head() sets the rest. Belongs to
 * the connection, as its protocol state does. */
struct cc_http_reply {
    bool to_head; /* the request's method is HEAD */
    bool minor;   /* the request is HTTP/1.1, not 1.0 */
    bool keep;    /* the connection may go on afterwards */
    bool no_body; /* nothing follows the head on the wire */
    bool chunked; /* by chunks; else by length, or by the end of the connection */
    int64_t left; /* bytes that Content-Length still promises; -1: none was given */
};

void cc_http_write_head(struct cc_http_reply *reply, const struct cc_response *response,
                        struct cc_buf *out);
/* As cc_protocol.frame. */
bool cc_http_write_frame(struct cc_http_reply *reply, size_t len, struct cc_frame *frame);
/* As cc_protocol.end. */
bool cc_http_write_end(const struct cc_http_reply *reply, bool whole, struct cc_buf *out);

#endif
