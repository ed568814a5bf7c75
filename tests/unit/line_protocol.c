/* See line_protocol.h. */
#include "line_protocol.h"

#include <stdlib.h>

#include "base/alloc.h"

struct line {
    struct cc_session *session;
    struct cc_buf text;
    bool last;
    int64_t left; /* bytes that the response's length still allows; -1: any */
};

static void *open_line(struct cc_session *session, const void *settings)
{
    struct line *line = cc_alloc_zeroed(1, sizeof *line);
    (void)settings;
    line->session = session;
    return line;
}

static bool feed(void *state, const char *bytes, size_t len, size_t *used, struct cc_buf *out,
                 struct cc_err *err)
{
    struct line *line = state;
    const char *end = memchr(bytes, '\n', len);
    (void)out;

    *used = end == NULL ? len : (size_t)(end - bytes) + 1;
    cc_buf_append(&line->text, bytes, *used);
    line->session->phase = CC_PHASE_HEAD;
    if (line->text.len > 100)
        return cc_fail_status(err, 400, "the line is too long");
    if (end == NULL)
        return true;
    struct cc_request *request = line->session->request(line->session);
    request->method = CC_SPAN("LINE");
    request->uri = cc_arena_copy(&request->arena, line->text.at, line->text.len - 1);
    line->last = cc_span_equal(request->uri, CC_SPAN("quit"));
    cc_buf_clear(&line->text);
    line->session->phase = CC_PHASE_IDLE;
    line->session->ready(line->session, request);
    return true;
}

static bool finished(void *state)
{
    return ((struct line *)state)->text.len == 0;
}

static void head(void *state, struct cc_request *request, const struct cc_response *response,
                 struct cc_buf *out)
{
    ((struct line *)state)->left = response->length;
    (void)request;
    cc_buf_printf(out, "%d ", response->status);
}

static bool frame(void *state, size_t len, struct cc_frame *frame_around)
{
    struct line *line = state;

    if (line->left < 0)
        return true;
    if (len > (size_t)line->left)
        frame_around->len = (size_t)line->left;
    line->left -= (int64_t)frame_around->len;
    return frame_around->len > 0;
}

static bool end(void *state, bool whole, struct cc_buf *out)
{
    if (whole)
        CC_BUF_LITERAL(out, "\n.\n");
    return whole && !((struct line *)state)->last;
}

static void refuse(void *state, int status, const char *text, struct cc_buf *out)
{
    (void)state;
    cc_buf_printf(out, "%d %s\n.\n", status, text);
}

static void close_line(void *state)
{
    struct line *line = state;
    cc_buf_clear(&line->text);
    free(line);
}

const struct cc_protocol line_protocol = {
    .open = open_line,
    .feed = feed,
    .finished = finished,
    .head = head,
    .frame = frame,
    .end = end,
    .refuse = refuse,
    .close = close_line,
};
