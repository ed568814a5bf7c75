/* The states of an HTTP connection, and what the host sees of the plugin. Each step of feed() is a
 * function; what bytes mean is in the other files. */
#include "config.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "http/http_chunked.h"
#include "http/http_head.h"
#include "http/http_write.h"
#include "plugin/abi.h"
#include "plugin/protocol.h"

enum step {
    HEAD,   /* between requests, or in a head */
    LENGTH, /* in a body with Content-Length */
    CHUNKS, /* in a chunked body */
    REPLY,  /* the request is the app's; nothing is fed until its response is over */
    BROKEN, /* the peer broke the protocol; the host closes */
};

/* A connection. Touched by whoever owns the connection: the loop, or the app thread that serves its
 * request. Small, because there may be many that idle. */
struct cc_http_state {
    struct cc_session *session;
    const struct cc_http_settings *settings;
    struct cc_request *request; /* the one that is being read; the session's */
    struct cc_buf partial;      /* the beginning of a head, when it did not come at once */
    struct cc_http_scan scan;
    enum step step;
    struct cc_http_reply reply;
    union {
        uint64_t left; /* LENGTH: bytes of the body that are to come */
        struct cc_http_chunked chunked;
    } body;
};

static void *http_open(struct cc_session *session, const void *settings)
{
    struct cc_http_state *state = cc_alloc_zeroed(1, sizeof *state);

    state->session = session;
    state->settings = settings;
    session->phase = CC_PHASE_IDLE;
    return state;
}

static void http_close(void *pointer)
{
    struct cc_http_state *state = pointer;

    cc_buf_clear(&state->partial);
    free(state);
}

static bool broke(struct cc_http_state *state)
{
    state->step = BROKEN;
    return false;
}

/* Once ready() has been called the connection may be another thread's, so this comes last. */
static void hand_over(struct cc_http_state *state)
{
    struct cc_request *request = state->request;

    state->request = NULL;
    state->session->phase = CC_PHASE_IDLE;
    state->session->ready(state->session, request);
}

/* The head is read: what comes next? */
static bool start_body(struct cc_http_state *state, const struct cc_http_framing *framing,
                       struct cc_buf *out, struct cc_err *err)
{
    int64_t limit = state->settings->body_limit;

    if (limit > 0 && framing->length > (uint64_t)limit)
        return cc_fail_status(err, 413, "a body of %llu bytes is announced; limit-post allows %lld",
                              (unsigned long long)framing->length, (long long)limit);
    if (!framing->chunked && framing->length == 0) {
        state->step = REPLY;
        return true;
    }
    /* RFC 9110 10.1.1 lets this be left out when some of the body is here already; sending it
     * always is as right, and does not depend on how the bytes were cut into packets. */
    if (framing->expects_continue)
        CC_BUF_LITERAL(out, "HTTP/1.1 100 Continue\r\n\r\n");
    state->session->phase = CC_PHASE_BODY;
    state->step = framing->chunked ? CHUNKS : LENGTH;
    if (framing->chunked)
        state->body.chunked = (struct cc_http_chunked){0};
    else
        state->body.left = framing->length;
    return true;
}

static bool read_head(struct cc_http_state *state, struct cc_span head, struct cc_buf *out,
                      struct cc_err *err)
{
    struct cc_http_framing framing;
    struct cc_request *request = state->session->request(state->session);

    state->request = request;
    if (!cc_http_head_parse(&framing, request, head, state->scan.lines, err))
        return false;
    cc_http_add_peer(request, state->session->peer);
    state->reply = (struct cc_http_reply){
        .to_head = cc_span_equal(request->method, CC_SPAN("HEAD")),
        .minor = framing.minor > 0,
        /* RFC 9112 9.3 */
        .keep = !framing.close && (framing.minor > 0 || framing.keep_alive),
    };
    state->session->last = !state->reply.keep;
    return start_body(state, &framing, out, err);
}

/* Returns how many of the bytes it took; SIZE_MAX: err. */
static size_t feed_head(struct cc_http_state *state, struct cc_span bytes, struct cc_buf *out,
                        struct cc_err *err)
{
    size_t before = state->partial.len;
    struct cc_span all = bytes;

    state->session->phase = CC_PHASE_HEAD;
    if (before > 0) {
        cc_buf_append_span(&state->partial, bytes);
        all = (struct cc_span){state->partial.at, state->partial.len};
    }
    enum cc_http_found found = cc_http_head_find(&state->scan, all, state->settings, err);
    if (found == CC_HTTP_BAD)
        return SIZE_MAX;
    if (found == CC_HTTP_MORE) {
        if (before == 0)
            cc_buf_append_span(&state->partial, bytes);
        if (all.len == state->scan.start)
            state->session->phase = CC_PHASE_IDLE;
        return bytes.len;
    }
    size_t end = state->scan.seen;
    bool fine = read_head(
        state, (struct cc_span){all.at + state->scan.start, end - state->scan.start}, out, err);
    state->scan = (struct cc_http_scan){0};
    cc_buf_clear(&state->partial);
    return fine ? end - before : SIZE_MAX;
}

static size_t feed_length(struct cc_http_state *state, struct cc_span bytes, struct cc_err *err)
{
    size_t len = bytes.len;

    if (len > state->body.left)
        len = (size_t)state->body.left;
    if (!state->session->body(state->session, state->request, bytes.at, len, err))
        return SIZE_MAX;
    state->body.left -= len;
    if (state->body.left == 0)
        state->step = REPLY;
    return len;
}

static size_t feed_chunks(struct cc_http_state *state, struct cc_span bytes, struct cc_err *err)
{
    struct cc_http_chunked *chunked = &state->body.chunked;
    struct cc_span data;
    size_t took = cc_http_chunked_take(chunked, bytes, state->settings->body_limit, &data, err);

    if (took == SIZE_MAX)
        return SIZE_MAX;
    if (data.len > 0 &&
        !state->session->body(state->session, state->request, data.at, data.len, err))
        return SIZE_MAX;
    if (chunked->done)
        state->step = REPLY;
    return took;
}

static bool http_feed(void *pointer, const char *bytes, size_t len, size_t *used,
                      struct cc_buf *out, struct cc_err *err)
{
    struct cc_http_state *state = pointer;

    *used = 0;
    while (*used < len && state->step < REPLY) {
        struct cc_span rest = {bytes + *used, len - *used};
        size_t took;
        if (state->step == HEAD)
            took = feed_head(state, rest, out, err);
        else if (state->step == LENGTH)
            took = feed_length(state, rest, err);
        else
            took = feed_chunks(state, rest, err);
        if (took == SIZE_MAX)
            return broke(state);
        *used += took;
        if (state->step == REPLY) {
            hand_over(state);
            return true;
        }
    }
    return state->step != BROKEN;
}

static bool http_finished(void *pointer)
{
    const struct cc_http_state *state = pointer;

    if (state->step == HEAD)
        return state->partial.len == state->scan.start;
    return state->step == REPLY;
}

static void http_head(void *pointer, struct cc_request *request, const struct cc_response *response,
                      struct cc_buf *out)
{
    struct cc_http_state *state = pointer;
    (void)request;

    cc_http_write_head(&state->reply, response, out);
}

static bool http_frame(void *pointer, size_t len, struct cc_frame *frame)
{
    struct cc_http_state *state = pointer;

    return cc_http_write_frame(&state->reply, len, frame);
}

static bool http_end(void *pointer, bool whole, struct cc_buf *out)
{
    struct cc_http_state *state = pointer;

    state->step = HEAD;
    return cc_http_write_end(&state->reply, whole, out);
}

static void http_refuse(void *pointer, int status, const char *text, struct cc_buf *out)
{
    (void)pointer;
    cc_response_append_refusal(out, status, text);
}

static const struct cc_protocol http_protocol = {
    .open = http_open,
    .feed = http_feed,
    .finished = http_finished,
    .head = http_head,
    .frame = http_frame,
    .end = http_end,
    .refuse = http_refuse,
    .close = http_close,
};

static const struct cc_option http_rows[] = {
    {CC_SIZE_ROW("buffer-size", struct cc_http_settings, head_limit), .letter = 'b',
     .fallback = "65536", .min = 256, .max = 1 << 20, .section = "HTTP", .since = "0.1",
     .help = "Most bytes of an HTTP request's head (request line and headers); a longer one is "
             "answered 431."},
    {CC_SIZE_ROW("http-max-request-line", struct cc_http_settings, line_limit), .fallback = "16384",
     .min = 64, .max = 1 << 20, .section = "HTTP", .since = "0.1",
     .help = "Most bytes of an HTTP request line; a longer one is answered 414."},
    {CC_INT_ROW("http-max-headers", struct cc_http_settings, header_limit), .fallback = "100",
     .min = 1, .max = 1000, .section = "HTTP", .since = "0.1",
     .help = "Most headers of an HTTP request; one with more is answered 431."},
    {CC_SIZE_ROW("limit-post", struct cc_http_settings, body_limit), .fallback = "1073741824",
     .section = "HTTP", .since = "0.1",
     .help = "Most bytes of a request's body; a longer one is answered 413 before it is read. "
             "0: no limit."},
};

static const struct cc_option_table http_options = {
    .owner = "http",
    .rows = http_rows,
    .count = sizeof http_rows / sizeof http_rows[0],
    .target_size = sizeof(struct cc_http_settings),
};

CC_EXPORT extern const struct cc_plugin cc_plugin;
const struct cc_plugin cc_plugin = {
    .abi = CC_ABI,
    .size = sizeof cc_plugin,
    .kind = CC_PLUGIN_PROTOCOL,
    .name = "http",
    .version = PACKAGE_VERSION,
    .options = &http_options,
    .ops.protocol = &http_protocol,
};
