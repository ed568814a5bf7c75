/* The plugin's options; filled by the host before any connection is opened, constant afterwards:
 * any thread may read them. */
#ifndef CC_HTTP_HTTP_SETTINGS_H
#define CC_HTTP_HTTP_SETTINGS_H

#include <stdint.h>

struct cc_http_settings {
    int64_t head_limit;   /* buffer-size: bytes of a head */
    int64_t line_limit;   /* http-max-request-line: bytes of a request line */
    int64_t header_limit; /* http-max-headers */
    int64_t body_limit;   /* limit-post: bytes of a body; 0: no limit */
};

#endif
