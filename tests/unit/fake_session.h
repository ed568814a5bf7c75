/* The host's side of one connection, without a socket: feeds a protocol plugin, takes its requests,
 * answers them, and writes down what happened. For unit tests and fuzz harnesses; one thread. */
#ifndef CC_TESTS_FAKE_SESSION_H
#define CC_TESTS_FAKE_SESSION_H

#include "base/buf.h"
#include "plugin/protocol.h"

enum fake_fate {
    FAKE_OPEN,    /* the connection goes on */
    FAKE_WAITING, /* a request is ready and waits for fake_answer() (only when by_hand) */
    FAKE_CLOSED,  /* the plugin had it closed after a response */
    FAKE_REFUSED, /* the plugin refused the bytes; err says why */
};

/* How requests are answered. */
struct fake_answer {
    struct cc_response response;
    const char *const *pieces; /* of the body; ends with NULL */
    bool cut;                  /* the app breaks off */
};

struct fake_session {
    struct cc_session session; /* first: the plugin's pointer leads back here */
    struct cc_peer peer;
    const struct cc_protocol *protocol;
    void *state;
    struct cc_request request; /* the last one */
    bool ready;
    bool by_hand;       /* answer nothing by itself */
    int64_t body_limit; /* as the host's: a longer body is a 413; 0: none */
    const struct fake_answer *answer;
    /* Called for each request that is ready, with the connection's settings; may be NULL. */
    void (*check)(const struct cc_request *request, const void *settings);
    const void *settings;
    enum fake_fate fate;
    struct cc_err err;
    size_t requests;
    struct cc_buf out;  /* what the peer gets */
    struct cc_buf told; /* what happened: each request with its variables, each refusal */
};

void fake_open(struct fake_session *fake, const struct cc_protocol *protocol, const void *settings);
/* Gives bytes as one read would; goes on behind each request. The plugin gets a copy of exactly len
 * bytes that is freed afterwards, so a sanitizer sees what is read or kept beyond it. Returns how
 * many were taken: all of them, while the connection is open. */
size_t fake_feed(struct fake_session *fake, const char *bytes, size_t len);
/* Answers the request that waits. */
void fake_answer(struct fake_session *fake, const struct fake_answer *answer);
/* A variable of the last request as text with a NUL, or NULL; valid until the next call. */
const char *fake_var(struct fake_session *fake, const char *name);
void fake_close(struct fake_session *fake);

#endif
