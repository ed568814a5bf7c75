/* See http_write.h. */
#include "http/http_write.h"

#include "http/http_bytes.h"

/* Room for all that is written besides the app's own headers: status line without its phrase,
 * Content-Length, Date without its value, Connection, Transfer-Encoding. */
#define OWN_BYTES ((size_t)256)

static char *put(char *to, struct cc_span span)
{
    return mempcpy(to, span.at, span.len);
}

static char *put_header(char *to, struct cc_span name, struct cc_span value)
{
    to = put(to, name);
    to = put(to, CC_SPAN(": "));
    to = put(to, value);
    return put(to, CC_SPAN("\r\n"));
}

static char *put_status_line(char *to, int status, struct cc_span reason)
{
    if (status == 200 && reason.len == 2 && memcmp(reason.at, "OK", 2) == 0)
        return put(to, CC_SPAN("HTTP/1.1 200 OK\r\n"));
    to = put(to, CC_SPAN("HTTP/1.1 "));
    to = cc_put_number(to, (uint64_t)status);
    *to++ = ' ';
    to = put(to, reason);
    return put(to, CC_SPAN("\r\n"));
}

static size_t room_for(const struct cc_response *response, struct cc_span reason)
{
    size_t room = OWN_BYTES + reason.len + response->date.len;

    for (size_t i = 0; i < response->n_headers; i++)
        room += response->headers[i].name.len + response->headers[i].value.len + 4;
    return room;
}

/* What the app's headers say to the protocol itself. */
struct told {
    bool date, length;
};

/* The app's headers, without those that are the protocol's to write. */
static char *put_headers(char *to, struct cc_http_reply *reply, const struct cc_response *response,
                         struct told *told)
{
    struct cc_span rest, token;

    for (size_t i = 0; i < response->n_headers; i++) {
        const struct cc_pair *header = &response->headers[i];
        switch (cc_response_header_kind(header->name)) {
        case CC_HEADER_LENGTH:
            told->length = true;
            break;
        case CC_HEADER_HOP:
            break;
        case CC_HEADER_CONNECTION:
            rest = header->value;
            while (cc_http_next_in_list(&rest, &token))
                reply->keep &= !cc_span_equal_nocase(token, CC_SPAN("close"));
            break;
        case CC_HEADER_DATE:
            told->date = true;
            to = put_header(to, header->name, header->value);
            break;
        case CC_HEADER_OTHER:
            to = put_header(to, header->name, header->value);
            break;
        }
    }
    return to;
}

/* Decides how the end of the body is told (RFC 9112 6.3). */
static void choose_framing(struct cc_http_reply *reply, const struct cc_response *response)
{
    reply->no_body = reply->to_head || !cc_response_may_have_body(response->status);
    reply->left = cc_response_length(response);
    reply->keep = reply->keep && !response->close;
    reply->chunked = !reply->no_body && reply->left < 0 && reply->minor;
    if (!reply->no_body && reply->left < 0 && !reply->minor)
        reply->keep = false;
}

static char *put_framing(char *to, const struct cc_http_reply *reply,
                         const struct cc_response *response, bool told_length)
{
    bool length = reply->left >= 0 && cc_response_may_have_body(response->status);

    /* To HEAD an app gives no body, so a count of 0 says nothing about what GET would send. */
    if (length && (!reply->to_head || told_length || reply->left > 0)) {
        to = put(to, CC_SPAN("Content-Length: "));
        to = cc_put_number(to, (uint64_t)reply->left);
        to = put(to, CC_SPAN("\r\n"));
    }
    if (reply->chunked)
        to = put(to, CC_SPAN("Transfer-Encoding: chunked\r\n"));
    if (!reply->keep)
        to = put(to, CC_SPAN("Connection: close\r\n"));
    else if (!reply->minor)
        to = put(to, CC_SPAN("Connection: keep-alive\r\n"));
    return to;
}

void cc_http_write_head(struct cc_http_reply *reply, const struct cc_response *response,
                        struct cc_buf *out)
{
    int status = response->status < 100 || response->status > 999 ? 500 : response->status;
    struct cc_span reason =
        response->reason.len > 0 ? response->reason : cc_response_reason(status);
    struct told told = {0};
    char *start = cc_buf_reserve(out, room_for(response, reason));

    choose_framing(reply, response);
    char *to = put_status_line(start, status, reason);
    to = put_headers(to, reply, response, &told);
    if (!told.date && response->date.len > 0)
        to = put_header(to, CC_SPAN("Date"), response->date);
    to = put_framing(to, reply, response, told.length);
    to = put(to, CC_SPAN("\r\n"));
    out->len += (size_t)(to - start);
}

/* chunk-size CRLF (RFC 9112 7.1). */
static struct cc_span chunk_line(struct cc_frame *frame, size_t len)
{
    size_t at = sizeof frame->text;

    frame->text[--at] = '\n';
    frame->text[--at] = '\r';
    do
        frame->text[--at] = "0123456789abcdef"[len & 15];
    while ((len >>= 4) > 0);
    return (struct cc_span){frame->text + at, sizeof frame->text - at};
}

bool cc_http_write_frame(struct cc_http_reply *reply, size_t len, struct cc_frame *frame)
{
    frame->before = frame->after = CC_SPAN("");
    frame->len = len;
    if (reply->no_body)
        return false;
    if (reply->chunked) {
        frame->before = chunk_line(frame, len);
        frame->after = CC_SPAN("\r\n");
        return true;
    }
    frame->len = cc_response_take(&reply->left, len);
    return frame->len > 0;
}

bool cc_http_write_end(const struct cc_http_reply *reply, bool whole, struct cc_buf *out)
{
    if (reply->no_body)
        return reply->keep;
    if (reply->chunked) {
        if (whole)
            CC_BUF_LITERAL(out, "0\r\n\r\n");
        return whole && reply->keep;
    }
    /* With a length the client can tell by itself whether it got all; without one, closing is what
     * ends the body. */
    return reply->left == 0 && reply->keep;
}
