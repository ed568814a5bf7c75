/* See fake_session.h. */
#include "fake_session.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct cc_request *new_request(struct cc_session *session)
{
    struct fake_session *fake = (struct fake_session *)session;

    if (fake->ready)
        abort(); /* a second request before the first was answered */
    cc_request_reset(&fake->request);
    return &fake->request;
}

static bool take_body(struct cc_session *session, struct cc_request *request, const char *bytes,
                      size_t len, struct cc_err *err)
{
    struct fake_session *fake = (struct fake_session *)session;

    if (request != &fake->request || fake->ready)
        abort();
    if (fake->body_limit > 0 && request->body.length + (int64_t)len > fake->body_limit)
        return cc_fail_status(err, 413, "the body is too long");
    return cc_body_append(&request->body, bytes, len, INT64_MAX, err);
}

static void tell(struct fake_session *fake, struct cc_span name, struct cc_span value)
{
    cc_buf_append_span(&fake->told, name);
    CC_BUF_LITERAL(&fake->told, "=");
    cc_buf_append_span(&fake->told, value);
    CC_BUF_LITERAL(&fake->told, "\n");
}

static void be_ready(struct cc_session *session, struct cc_request *request)
{
    struct fake_session *fake = (struct fake_session *)session;

    if (request != &fake->request || fake->ready)
        abort();
    fake->ready = true;
    fake->requests++;
    CC_BUF_LITERAL(&fake->told, "request\n");
    tell(fake, CC_SPAN("method"), request->method);
    tell(fake, CC_SPAN("uri"), request->uri);
    tell(fake, CC_SPAN("protocol"), request->protocol);
    tell(fake, CC_SPAN("remote_addr"), request->remote_addr);
    for (size_t i = 0; i < request->n_vars; i++)
        tell(fake, request->vars[i].name, request->vars[i].value);
    tell(fake, request->body.chunked ? CC_SPAN("chunked body") : CC_SPAN("body"),
         (struct cc_span){request->body.memory.at, (size_t)request->body.length});
    if (fake->check != NULL)
        fake->check(request, fake->settings);
    /* Answered before ready() returns, as by a quick app thread: the plugin must be done by now. */
    fake->fate = FAKE_WAITING;
    if (!fake->by_hand)
        fake_answer(fake, fake->answer);
}

void fake_open(struct fake_session *fake, const struct cc_protocol *protocol, const void *settings)
{
    *fake = (struct fake_session){
        .session = {.request = new_request, .body = take_body, .ready = be_ready},
        .peer = {.remote_addr = CC_SPAN("192.0.2.1"),
                 .remote_port = CC_SPAN("4711"),
                 .server_name = CC_SPAN("example.org"),
                 .server_port = CC_SPAN("8000")},
        .protocol = protocol,
        .settings = settings,
    };
    fake->session.peer = &fake->peer;
    cc_request_init(&fake->request);
    fake->state = protocol->open(&fake->session, settings);
}

void fake_answer(struct fake_session *fake, const struct fake_answer *answer)
{
    static const struct fake_answer hello = {.response = {.status = 200, .length = 0}};

    if (answer == NULL)
        answer = &hello;
    fake->protocol->head(fake->state, &fake->request, &answer->response, &fake->out);
    for (const char *const *piece = answer->pieces; piece != NULL && *piece != NULL; piece++) {
        struct cc_frame frame;
        if (!fake->protocol->frame(fake->state, strlen(*piece), &frame))
            continue;
        cc_buf_append_span(&fake->out, frame.before);
        cc_buf_append(&fake->out, *piece, frame.len);
        cc_buf_append_span(&fake->out, frame.after);
    }
    bool goes_on = fake->protocol->end(fake->state, !answer->cut, &fake->out);
    fake->ready = false;
    fake->fate = goes_on ? FAKE_OPEN : FAKE_CLOSED;
    cc_buf_printf(&fake->told, "%s\n", goes_on ? "goes on" : "closed");
}

static void refused(struct fake_session *fake)
{
    fake->fate = FAKE_REFUSED;
    cc_buf_printf(&fake->told, "refused %d %s\n", fake->err.status, fake->err.text);
    if (fake->err.status != 0)
        fake->protocol->refuse(fake->state, fake->err.status, fake->err.text, &fake->out);
}

/* One call of feed() with a copy of the bytes. */
static size_t feed_once(struct fake_session *fake, const char *bytes, size_t len)
{
    char *exact = cc_alloc(len);
    size_t used = 0, before = fake->requests;

    memcpy(exact, bytes, len);
    fake->err = (struct cc_err){.text = "?", .status = -1};
    bool fine = fake->protocol->feed(fake->state, exact, len, &used, &fake->out, &fake->err);
    /* What the plugin keeps must not lie in the bytes that it was lent. */
    memset(exact, '!', len);
    free(exact);
    if (!fine)
        refused(fake);
    else if (used > len || (used < len && fake->requests == before))
        abort(); /* it must take all, unless a request is ready */
    return used;
}

size_t fake_feed(struct fake_session *fake, const char *bytes, size_t len)
{
    size_t taken = 0;

    while (fake->fate == FAKE_OPEN && taken < len)
        taken += feed_once(fake, bytes + taken, len - taken);
    return taken;
}

const char *fake_var(struct fake_session *fake, const char *name)
{
    const struct cc_span *value = cc_request_var(&fake->request, cc_span_of(name));

    if (value == NULL)
        return NULL;
    return cc_arena_copy(&fake->request.arena, value->at, value->len).at;
}

void fake_close(struct fake_session *fake)
{
    fake->protocol->close(fake->state);
    cc_request_clear(&fake->request);
    cc_buf_clear(&fake->out);
    cc_buf_clear(&fake->told);
}
