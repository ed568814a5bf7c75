/* See response.h. */
#include "request/response.h"

static const struct {
    int status;
    struct cc_span reason;
} reasons[] = {
#define REASON(status, text)                                                                       \
    {                                                                                              \
        (status),                                                                                  \
        {                                                                                          \
            "" text, sizeof(text) - 1                                                              \
        }                                                                                          \
    }
    REASON(200, "OK"),
    REASON(100, "Continue"),
    REASON(101, "Switching Protocols"),
    REASON(102, "Processing"),
    REASON(103, "Early Hints"),
    REASON(201, "Created"),
    REASON(202, "Accepted"),
    REASON(203, "Non-Authoritative Information"),
    REASON(204, "No Content"),
    REASON(205, "Reset Content"),
    REASON(206, "Partial Content"),
    REASON(207, "Multi-Status"),
    REASON(208, "Already Reported"),
    REASON(226, "IM Used"),
    REASON(300, "Multiple Choices"),
    REASON(301, "Moved Permanently"),
    REASON(302, "Found"),
    REASON(303, "See Other"),
    REASON(304, "Not Modified"),
    REASON(305, "Use Proxy"),
    REASON(307, "Temporary Redirect"),
    REASON(308, "Permanent Redirect"),
    REASON(400, "Bad Request"),
    REASON(401, "Unauthorized"),
    REASON(402, "Payment Required"),
    REASON(403, "Forbidden"),
    REASON(404, "Not Found"),
    REASON(405, "Method Not Allowed"),
    REASON(406, "Not Acceptable"),
    REASON(407, "Proxy Authentication Required"),
    REASON(408, "Request Timeout"),
    REASON(409, "Conflict"),
    REASON(410, "Gone"),
    REASON(411, "Length Required"),
    REASON(412, "Precondition Failed"),
    REASON(413, "Content Too Large"),
    REASON(414, "URI Too Long"),
    REASON(415, "Unsupported Media Type"),
    REASON(416, "Range Not Satisfiable"),
    REASON(417, "Expectation Failed"),
    REASON(421, "Misdirected Request"),
    REASON(422, "Unprocessable Content"),
    REASON(423, "Locked"),
    REASON(424, "Failed Dependency"),
    REASON(425, "Too Early"),
    REASON(426, "Upgrade Required"),
    REASON(428, "Precondition Required"),
    REASON(429, "Too Many Requests"),
    REASON(431, "Request Header Fields Too Large"),
    REASON(451, "Unavailable For Legal Reasons"),
    REASON(500, "Internal Server Error"),
    REASON(501, "Not Implemented"),
    REASON(502, "Bad Gateway"),
    REASON(503, "Service Unavailable"),
    REASON(504, "Gateway Timeout"),
    REASON(505, "HTTP Version Not Supported"),
    REASON(506, "Variant Also Negotiates"),
    REASON(507, "Insufficient Storage"),
    REASON(508, "Loop Detected"),
    REASON(511, "Network Authentication Required"),
#undef REASON
};

struct cc_span cc_response_reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return CC_SPAN("Unknown");
}

bool cc_response_may_have_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

enum cc_header_kind cc_response_header_kind(struct cc_span name)
{
    /* By length first: nearly every header leaves here without a comparison. */
    switch (name.len) {
    case 2:
        return cc_span_equal_nocase(name, CC_SPAN("TE")) ? CC_HEADER_HOP : CC_HEADER_OTHER;
    case 4:
        return cc_span_equal_nocase(name, CC_SPAN("Date")) ? CC_HEADER_DATE : CC_HEADER_OTHER;
    case 7:
        return cc_span_equal_nocase(name, CC_SPAN("Trailer")) ? CC_HEADER_HOP : CC_HEADER_OTHER;
    case 10:
        if (cc_span_equal_nocase(name, CC_SPAN("Connection")))
            return CC_HEADER_CONNECTION;
        return cc_span_equal_nocase(name, CC_SPAN("Keep-Alive")) ? CC_HEADER_HOP : CC_HEADER_OTHER;
    case 14:
        return cc_span_equal_nocase(name, CC_SPAN("Content-Length")) ? CC_HEADER_LENGTH
                                                                     : CC_HEADER_OTHER;
    case 17:
        return cc_span_equal_nocase(name, CC_SPAN("Transfer-Encoding")) ? CC_HEADER_HOP
                                                                        : CC_HEADER_OTHER;
    default:
        return CC_HEADER_OTHER;
    }
}

int64_t cc_response_length(const struct cc_response *response)
{
    for (size_t i = 0; i < response->n_headers; i++) {
        uint64_t number;
        if (cc_response_header_kind(response->headers[i].name) != CC_HEADER_LENGTH)
            continue;
        if (cc_span_to_number(cc_span_trim(response->headers[i].value), INT64_MAX, &number))
            return (int64_t)number;
        return -1;
    }
    return response->length;
}

size_t cc_response_take(int64_t *left, size_t len)
{
    if (*left < 0)
        return len;
    if ((uint64_t)len > (uint64_t)*left)
        len = (size_t)*left;
    *left -= (int64_t)len;
    return len;
}

void cc_response_append_refusal(struct cc_buf *out, int status, const char *text)
{
    struct cc_span reason = cc_response_reason(status);
    struct cc_span line = cc_span_of(text == NULL ? "" : text);
    /* "400 Bad Request", a newline, the text, a newline. */
    size_t length = 4 + reason.len + 1 + (line.len == 0 ? 0 : line.len + 1);

    cc_buf_printf(out,
                  "HTTP/1.1 %d %.*s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                  "X-Content-Type-Options: nosniff\r\nContent-Length: %zu\r\n"
                  "Connection: close\r\n\r\n%d %.*s\n",
                  status, (int)reason.len, reason.at, length, status, (int)reason.len, reason.at);
    if (line.len == 0)
        return;
    cc_buf_append_span(out, line);
    CC_BUF_LITERAL(out, "\n");
}
