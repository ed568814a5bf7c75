/* A response as it goes back to the web server: an HTTP head, the body as it is, then the
 * connection ends. Pure. */
#ifndef CC_UWSGI_UWSGI_WRITE_H
#define CC_UWSGI_UWSGI_WRITE_H

#include "plugin/protocol.h"

/* One response; belongs to the connection. to_head is set before the head is written. */
struct cc_uwsgi_reply {
    bool to_head; /* the request's method is HEAD */
    bool no_body; /* nothing follows the head */
    int64_t left; /* bytes that Content-Length still promises; -1: none was given */
};

void cc_uwsgi_write_head(struct cc_uwsgi_reply *reply, struct cc_span protocol,
                         const struct cc_response *response, struct cc_buf *out);
/* As cc_protocol.frame. */
bool cc_uwsgi_write_frame(struct cc_uwsgi_reply *reply, size_t len, struct cc_frame *frame);

#endif
