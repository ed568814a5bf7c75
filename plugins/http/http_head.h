/* A request's head: first where it ends, then what it says. Pure: bytes in, variables out. */
#ifndef CC_HTTP_HTTP_HEAD_H
#define CC_HTTP_HTTP_HEAD_H

#include "http/http_fields.h"
#include "http/http_settings.h"
#include "plugin/protocol.h"

/* How far the search for the end of a head has come; all zero at its start. */
struct cc_http_scan {
    uint32_t start; /* of the head: behind the empty line that may come before it */
    uint32_t line;  /* start of the line that is being looked at */
    uint32_t seen;  /* bytes searched: the length of the head, once it is whole */
    uint32_t lines; /* whole ones so far, the request line among them */
};

enum cc_http_found { CC_HTTP_MORE, CC_HTTP_WHOLE, CC_HTTP_BAD };

/* Looks for the empty line that ends the head; bytes are all that has come since its first byte,
 * and may lie elsewhere at each call. Checks what can be told without reading the lines: that they
 * end with CRLF, that the first byte can begin a method, and the limits. What it says depends on
 * the bytes only, not on the pieces in which they came. CC_HTTP_BAD: err has text and status. */
enum cc_http_found cc_http_head_find(struct cc_http_scan *scan, struct cc_span bytes,
                                     const struct cc_http_settings *settings, struct cc_err *err);

/* Reads the head that was found (text: from scan.start to scan.seen; it may go away afterwards)
 * into request->vars and the rest of request. lines: of the scan. false: err has text and status.
 */
bool cc_http_head_parse(struct cc_http_framing *framing, struct cc_request *request,
                        struct cc_span text, uint32_t lines, struct cc_err *err);
/* Adds the variables that do not come from the head: SERVER_NAME, REMOTE_ADDR and so on. */
void cc_http_add_peer(struct cc_request *request, const struct cc_peer *peer);

#endif
