/* The request target (RFC 9112 3.2) and the authority in it and in Host. Pure. */
#ifndef CC_HTTP_HTTP_TARGET_H
#define CC_HTTP_HTTP_TARGET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

struct cc_http_target {
    struct cc_span path;      /* decoded: PATH_INFO; in the target's own bytes where nothing was
                                 encoded, else in the arena */
    struct cc_span query;     /* as it came, without '?' */
    struct cc_span authority; /* of the absolute form; empty otherwise. It wins over Host. */
};

/* Splits a target that has no blank and no control byte in it. false: err has text and status.
 * Decoded is every %XX of the path (as CGI and PEP 3333 have it, so also %2F). Refused, as nginx
 * does: a '%' without two digits, and %00, which ends a path for whoever passes it to the system.
 */
bool cc_http_target_parse(struct cc_http_target *target, struct cc_span method, struct cc_span text,
                          struct cc_arena *arena, struct cc_err *err);
/* Whether text is uri-host [":" port] (RFC 3986 3.2) with a host that is not empty. */
bool cc_http_is_authority(struct cc_span text);

#endif
