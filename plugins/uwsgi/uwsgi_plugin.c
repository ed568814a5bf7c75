/* The states of a uwsgi connection, and what the host sees of the plugin. */
#include "config.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "plugin/abi.h"
#include "plugin/protocol.h"
#include "uwsgi/uwsgi_vars.h"
#include "uwsgi/uwsgi_write.h"

enum step {
    HEADER, /* the four bytes */
    VARS,   /* header.size bytes of variables */
    BODY,   /* left bytes of body */
    REPLY,  /* the request is the app's; the connection ends with its response */
    BROKEN, /* the peer broke the protocol; the host closes */
};

/* A connection. Touched by whoever owns the connection: the loop, or the app thread that serves its
 * request. */
struct cc_uwsgi_state {
    struct cc_session *session;
    const struct cc_uwsgi_settings *settings;
    struct cc_request *request; /* the one that is being read; the session's */
    struct cc_buf partial;      /* the beginning of a packet, when it did not come at once */
    struct cc_uwsgi_header header;
    enum step step;
    uint64_t left; /* bytes of the body that are to come */
    struct cc_uwsgi_reply reply;
};

static void *uwsgi_open(struct cc_session *session, const void *settings)
{
    struct cc_uwsgi_state *state = cc_alloc_zeroed(1, sizeof *state);

    state->session = session;
    state->settings = settings;
    session->phase = CC_PHASE_IDLE;
    session->last = true;
    return state;
}

static void uwsgi_close(void *pointer)
{
    struct cc_uwsgi_state *state = pointer;

    cc_buf_clear(&state->partial);
    free(state);
}

/* Once ready() has been called the connection may be another thread's, so this comes last. */
static void hand_over(struct cc_uwsgi_state *state)
{
    struct cc_request *request = state->request;

    state->request = NULL;
    state->session->phase = CC_PHASE_IDLE;
    state->session->ready(state->session, request);
}

/* Where the next need bytes lie whole: in bytes itself, or in partial when they come in pieces.
 * NULL: not all of them are here yet. *took: how many of bytes this used. */
static const char *gather(struct cc_uwsgi_state *state, size_t need, struct cc_span bytes,
                          size_t *took)
{
    size_t missing = need - state->partial.len;

    if (state->partial.len == 0 && bytes.len >= need) {
        *took = need;
        return bytes.at;
    }
    *took = bytes.len < missing ? bytes.len : missing;
    cc_buf_append(&state->partial, bytes.at, *took);
    return state->partial.len == need ? state->partial.at : NULL;
}

static bool read_vars(struct cc_uwsgi_state *state, struct cc_span data, struct cc_err *err)
{
    struct cc_session *session = state->session;
    int64_t limit = state->settings->body_limit;
    uint64_t length;

    state->request = session->request(session);
    if (!cc_uwsgi_vars_parse(state->request, data, session->peer, &length, err))
        return false;
    if (limit > 0 && length > (uint64_t)limit)
        return cc_fail_status(err, 413, "a body of %llu bytes is announced; limit-post allows %lld",
                              (unsigned long long)length, (long long)limit);
    state->reply.to_head = cc_span_equal(state->request->method, CC_SPAN("HEAD"));
    state->left = length;
    state->step = length == 0 ? REPLY : BODY;
    session->phase = CC_PHASE_BODY;
    return true;
}

/* The answer is the header with modifier2 = 1 and no text, as uWSGI's when nothing is wrong. It
 * ends the connection, as every answer does. Always false, which tells the host. */
static bool answer_ping(struct cc_buf *out, struct cc_err *err)
{
    const char answer[CC_UWSGI_HEADER_LEN] = {CC_UWSGI_PING, 0, 0, 1};

    cc_buf_append(out, answer, sizeof answer);
    return cc_fail_status(err, 0, "%s", "");
}

static bool feed_header(struct cc_uwsgi_state *state, struct cc_span bytes, size_t *took,
                        struct cc_buf *out, struct cc_err *err)
{
    const char *header = gather(state, CC_UWSGI_HEADER_LEN, bytes, took);

    state->session->phase = CC_PHASE_HEAD;
    if (header == NULL)
        return true;
    bool fine = cc_uwsgi_header_parse(&state->header, header, state->settings, err);
    state->partial.len = 0;
    if (!fine)
        return false;
    state->step = VARS;
    if (state->header.size > 0)
        return true;
    if (state->header.modifier1 != CC_UWSGI_PING)
        return cc_fail_status(err, 400, "uwsgi packet without any variable");
    return answer_ping(out, err);
}

static bool feed_vars(struct cc_uwsgi_state *state, struct cc_span bytes, size_t *took,
                      struct cc_buf *out, struct cc_err *err)
{
    size_t size = state->header.size;
    const char *vars = gather(state, size, bytes, took);

    if (vars == NULL)
        return true;
    bool fine = state->header.modifier1 == CC_UWSGI_PING
                    ? answer_ping(out, err)
                    : read_vars(state, (struct cc_span){vars, size}, err);
    cc_buf_clear(&state->partial);
    return fine;
}

static bool feed_body(struct cc_uwsgi_state *state, struct cc_span bytes, size_t *took,
                      struct cc_err *err)
{
    *took = bytes.len < state->left ? bytes.len : (size_t)state->left;
    if (!state->session->body(state->session, state->request, bytes.at, *took, err))
        return false;
    state->left -= *took;
    if (state->left == 0)
        state->step = REPLY;
    return true;
}

static bool uwsgi_feed(void *pointer, const char *bytes, size_t len, size_t *used,
                       struct cc_buf *out, struct cc_err *err)
{
    struct cc_uwsgi_state *state = pointer;
    bool fine = state->step != BROKEN;

    *used = 0;
    while (fine && *used < len && state->step < REPLY) {
        struct cc_span rest = {bytes + *used, len - *used};
        size_t took = 0;
        if (state->step == HEADER)
            fine = feed_header(state, rest, &took, out, err);
        else if (state->step == VARS)
            fine = feed_vars(state, rest, &took, out, err);
        else
            fine = feed_body(state, rest, &took, err);
        *used += took;
        if (fine && state->step == REPLY) {
            hand_over(state);
            return true;
        }
    }
    if (!fine)
        state->step = BROKEN;
    return fine;
}

static bool uwsgi_finished(void *pointer)
{
    const struct cc_uwsgi_state *state = pointer;

    return state->step == REPLY || (state->step == HEADER && state->partial.len == 0);
}

static void uwsgi_head(void *pointer, struct cc_request *request,
                       const struct cc_response *response, struct cc_buf *out)
{
    struct cc_uwsgi_state *state = pointer;

    cc_uwsgi_write_head(&state->reply, request->protocol, response, out);
}

static bool uwsgi_frame(void *pointer, size_t len, struct cc_frame *frame)
{
    struct cc_uwsgi_state *state = pointer;

    return cc_uwsgi_write_frame(&state->reply, len, frame);
}

static bool uwsgi_end(void *pointer, bool whole, struct cc_buf *out)
{
    (void)pointer;
    (void)whole;
    (void)out;
    return false;
}

static void uwsgi_refuse(void *pointer, int status, const char *text, struct cc_buf *out)
{
    (void)pointer;
    cc_response_append_refusal(out, status, text);
}

static const struct cc_protocol uwsgi_protocol = {
    .open = uwsgi_open,
    .feed = uwsgi_feed,
    .finished = uwsgi_finished,
    .head = uwsgi_head,
    .frame = uwsgi_frame,
    .end = uwsgi_end,
    .refuse = uwsgi_refuse,
    .close = uwsgi_close,
};

static const struct cc_option uwsgi_rows[] = {
    {CC_SIZE_ROW("buffer-size", struct cc_uwsgi_settings, packet_limit), .letter = 'b',
     .fallback = "65535", .min = 256, .max = 1 << 20, .section = "uwsgi", .since = "0.1",
     .help = "Most bytes of a uwsgi packet's variables; by default any packet that the protocol "
             "allows (65535) is taken."},
    {CC_SIZE_ROW("limit-post", struct cc_uwsgi_settings, body_limit), .fallback = "1073741824",
     .section = "uwsgi", .since = "0.1",
     .help = "Most bytes of a request's body; a longer one is answered 413 before it is read. "
             "0: no limit."},
};

static const struct cc_option_table uwsgi_options = {
    .owner = "uwsgi",
    .rows = uwsgi_rows,
    .count = sizeof uwsgi_rows / sizeof uwsgi_rows[0],
    .target_size = sizeof(struct cc_uwsgi_settings),
};

CC_EXPORT extern const struct cc_plugin cc_plugin;
const struct cc_plugin cc_plugin = {
    .abi = CC_ABI,
    .size = sizeof cc_plugin,
    .kind = CC_PLUGIN_PROTOCOL,
    .name = "uwsgi",
    .version = PACKAGE_VERSION,
    .options = &uwsgi_options,
    .ops.protocol = &uwsgi_protocol,
};
