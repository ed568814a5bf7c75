/* A protocol plugin: bytes in, requests out; replies in, bytes out. No socket, clock, thread or
 * lock inside: each is tested and fuzzed without sockets, and TLS can wrap any of them.
 *
 * One state a connection. The loop calls feed(); the thread that owns the connection (the loop, or
 * the app thread for the time of a request) calls head(), frame() and end(). Never two at once. */
#ifndef CC_PLUGIN_PROTOCOL_H
#define CC_PLUGIN_PROTOCOL_H

#include "base/buf.h"
#include "base/err.h"
#include "request/request.h"
#include "request/response.h"

/* Where a connection stands; which deadline runs. */
enum cc_phase {
    CC_PHASE_IDLE, /* nothing of a request has come */
    CC_PHASE_HEAD, /* a head has begun */
    CC_PHASE_BODY, /* the head is whole, the body is not */
};

/* Who is at the other end; all texts live as long as the connection. */
struct cc_peer {
    struct cc_span remote_addr, remote_port; /* empty for unix sockets */
    struct cc_span server_name, server_port;
    bool secure; /* came over TLS */
};

/* The host's side of a connection, given to open(). */
struct cc_session {
    /* A new empty request; its memory is the host's. Only before ready(), never twice for one. */
    struct cc_request *(*request)(struct cc_session *session);
    /* Stores a piece of the body. false: it could not be stored; err has a status. */
    bool (*body)(struct cc_session *session, struct cc_request *request, const char *bytes,
                 size_t len, struct cc_err *err);
    /* The request is whole: to the app's queue. feed() returns after this one. */
    void (*ready)(struct cc_session *session, struct cc_request *request);
    const struct cc_peer *peer;
    enum cc_phase phase; /* kept by the plugin, read by the host after feed() */
    /* Kept by the plugin as well: the peer has said that it sends nothing after this request, so
     * that closing the connection behind the response cannot meet bytes of its. */
    bool last;
};

/* What stands around a piece of body on the wire; lent until the next call. */
struct cc_frame {
    struct cc_span before, after;
    /* How many of the bytes go on the wire: all of them, as the host sets it, or fewer when the app
     * sends more than the Content-Length it gave. The rest is dropped. */
    size_t len;
    char text[24]; /* room for a chunk-size line */
};

struct cc_protocol {
    /* A state for a new connection. settings: what cc_plugin.options filled. NULL never. */
    void *(*open)(struct cc_session *session, const void *settings);
    /* Takes bytes until a request is ready; *used says how many it took. It keeps what it needs of
     * an unfinished head or packet itself, so it takes all of them unless a request became ready.
     * Interim bytes for the peer (100 Continue, a ping's answer) go to out. false: the peer broke
     * the protocol; err has the text for the log and the status for refuse() (0: close in silence).
     * With status 0 and no text it broke nothing: all is said, and the connection ends. */
    bool (*feed)(void *state, const char *bytes, size_t len, size_t *used, struct cc_buf *out,
                 struct cc_err *err);
    /* Called when the peer will send no more. true: nothing is missing (an idle connection). */
    bool (*finished)(void *state);
    /* Writes the head of the response. */
    void (*head)(void *state, struct cc_request *request, const struct cc_response *response,
                 struct cc_buf *out);
    /* What to put around len (> 0) bytes of body. false: this response has no body on the wire
     * (HEAD, 204, 304), or no more of it: the bytes are dropped. */
    bool (*frame)(void *state, size_t len, struct cc_frame *frame);
    /* The response is over; appends what ends it (the last chunk). whole = false: the app broke
     * off, so nothing may pretend that the body is complete. Says whether the connection goes on;
     * false: the host closes it after the last byte. */
    bool (*end)(void *state, bool whole, struct cc_buf *out);
    /* A whole answer for a request that never reached the app (status 400 to 599); the host closes
     * the connection after it. text: one line for people. */
    void (*refuse)(void *state, int status, const char *text, struct cc_buf *out);
    void (*close)(void *state);
};

#endif
