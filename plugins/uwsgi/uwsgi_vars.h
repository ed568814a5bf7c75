/* A uwsgi packet: four bytes of header, then variables. Pure: bytes in, variables out. */
#ifndef CC_UWSGI_UWSGI_VARS_H
#define CC_UWSGI_UWSGI_VARS_H

#include "plugin/protocol.h"

#define CC_UWSGI_HEADER_LEN 4
#define CC_UWSGI_PING       100

/* The plugin's options; constant once a connection is open, any thread may read them. */
struct cc_uwsgi_settings {
    int64_t packet_limit; /* buffer-size: bytes of a packet's variables */
    int64_t body_limit;   /* limit-post: bytes of a body; 0: no limit */
};

/* modifier1 (u8), datasize (u16, little endian), modifier2 (u8). */
struct cc_uwsgi_header {
    uint8_t modifier1, modifier2;
    uint16_t size; /* bytes of variables that follow */
};

/* Reads and judges the four bytes. false: no packet that is served here; err has the text, and the
 * status (0 where the peer would not understand an HTTP answer). */
bool cc_uwsgi_header_parse(struct cc_uwsgi_header *header, const char *bytes,
                           const struct cc_uwsgi_settings *settings, struct cc_err *err);

/* Reads the variables (data: all of them; copied) into request->vars and the rest of request, adds
 * from peer what PEP 3333 wants and the packet lacks. *length: of the body that follows.
 * false: err has text and status. */
bool cc_uwsgi_vars_parse(struct cc_request *request, struct cc_span data,
                         const struct cc_peer *peer, uint64_t *length, struct cc_err *err);

#endif
