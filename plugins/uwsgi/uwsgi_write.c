/* See uwsgi_write.h. */
#include "uwsgi/uwsgi_write.h"

/* Room for the status line without its phrase, and for Content-Length. */
#define OWN_BYTES ((size_t)128)

static size_t room_for(const struct cc_response *response, struct cc_span reason)
{
    size_t room = OWN_BYTES + reason.len;

    for (size_t i = 0; i < response->n_headers; i++)
        room += response->headers[i].name.len + response->headers[i].value.len + 4;
    return room;
}

static void append_status_line(struct cc_buf *out, struct cc_span protocol, int status,
                               struct cc_span reason)
{
    /* uWSGI repeats the SERVER_PROTOCOL that it got, whatever it is; a web server can be relied on
     * to understand these two. Without a length and a chunked coding the end of the connection
     * ends the body in both. */
    if (cc_span_equal(protocol, CC_SPAN("HTTP/1.0")))
        CC_BUF_LITERAL(out, "HTTP/1.0 ");
    else
        CC_BUF_LITERAL(out, "HTTP/1.1 ");
    cc_buf_append_number(out, (uint64_t)status);
    CC_BUF_LITERAL(out, " ");
    cc_buf_append_span(out, reason);
    CC_BUF_LITERAL(out, "\r\n");
}

/* The app's headers without those that are the protocol's; says whether a length was among them. */
static bool append_headers(struct cc_buf *out, const struct cc_response *response)
{
    bool told_length = false;

    for (size_t i = 0; i < response->n_headers; i++) {
        const struct cc_pair *header = &response->headers[i];
        enum cc_header_kind kind = cc_response_header_kind(header->name);
        told_length |= kind == CC_HEADER_LENGTH;
        if (kind != CC_HEADER_OTHER && kind != CC_HEADER_DATE)
            continue;
        cc_buf_append_span(out, header->name);
        CC_BUF_LITERAL(out, ": ");
        cc_buf_append_span(out, header->value);
        CC_BUF_LITERAL(out, "\r\n");
    }
    return told_length;
}

void cc_uwsgi_write_head(struct cc_uwsgi_reply *reply, struct cc_span protocol,
                         const struct cc_response *response, struct cc_buf *out)
{
    int status = response->status < 100 || response->status > 999 ? 500 : response->status;
    struct cc_span reason =
        response->reason.len > 0 ? response->reason : cc_response_reason(status);
    bool may_have_body = cc_response_may_have_body(status);

    cc_buf_reserve(out, room_for(response, reason));
    reply->no_body = reply->to_head || !may_have_body;
    reply->left = cc_response_length(response);
    append_status_line(out, protocol, status, reason);
    bool told_length = append_headers(out, response);
    /* With a length nginx can keep its client's connection, and tell when the app broke off. To
     * HEAD an app gives no body, so a count of 0 says nothing about what GET would send. */
    if (may_have_body && reply->left >= 0 && (!reply->to_head || told_length || reply->left > 0)) {
        CC_BUF_LITERAL(out, "Content-Length: ");
        cc_buf_append_number(out, (uint64_t)reply->left);
        CC_BUF_LITERAL(out, "\r\n");
    }
    CC_BUF_LITERAL(out, "\r\n");
}

bool cc_uwsgi_write_frame(struct cc_uwsgi_reply *reply, size_t len, struct cc_frame *frame)
{
    frame->before = frame->after = CC_SPAN("");
    frame->len = len;
    if (reply->no_body)
        return false;
    frame->len = cc_response_take(&reply->left, len);
    return frame->len > 0;
}
