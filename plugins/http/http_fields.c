/* See http_fields.h. */
#include "http/http_fields.h"

#include "http/http_bytes.h"
#include "http/http_target.h"

static enum cc_http_fate host(struct cc_http_framing *framing, struct cc_span value,
                              struct cc_err *err)
{
    /* RFC 9112 3.2: more than one Host, or one that is not valid, MUST be answered 400. */
    if (framing->has_host)
        cc_fail_status(err, 400, "there is more than one Host header");
    else if (!cc_http_is_authority(value))
        cc_fail_status(err, 400, "the Host header is no valid host");
    else {
        framing->has_host = true;
        return CC_HTTP_PASS;
    }
    return CC_HTTP_REFUSE;
}

static enum cc_http_fate content_length(struct cc_http_framing *framing, struct cc_span value,
                                        struct cc_err *err)
{
    /* RFC 9112 6.3 would let equal ones pass; who sends two is attacking or broken. */
    if (framing->has_length)
        cc_fail_status(err, 400, "there is more than one Content-Length header");
    else if (!cc_span_to_number(value, INT64_MAX, &framing->length))
        cc_fail_status(err, 400, "the Content-Length is no decimal number that fits 63 bits");
    else {
        framing->has_length = true;
        return CC_HTTP_CGI;
    }
    return CC_HTTP_REFUSE;
}

/* 0: chunked alone. RFC 9112 6.1 answers codings that we do not have with 501; 6.3 demands 400
 * where chunked is not the last one, because nobody can tell then where the body ends. */
static int refusal_of_coding(struct cc_span value)
{
    struct cc_span coding;
    int chunked = 0, others = 0;
    bool last = false;

    while (cc_http_next_in_list(&value, &coding)) {
        last = cc_span_equal_nocase(coding, CC_SPAN("chunked"));
        chunked += last;
        others += !last;
    }
    if (!last || chunked > 1)
        return 400;
    return others > 0 ? 501 : 0;
}

static enum cc_http_fate transfer_encoding(struct cc_http_framing *framing, struct cc_span value,
                                           struct cc_err *err)
{
    int status = refusal_of_coding(value);

    /* RFC 9112 6.1: 1.0 does not have it, so a 1.0 hop before us may have framed otherwise. */
    if (framing->minor == 0)
        cc_fail_status(err, 400, "Transfer-Encoding in an HTTP/1.0 request");
    else if (framing->chunked)
        cc_fail_status(err, 400, "there is more than one Transfer-Encoding header");
    else if (status != 0)
        cc_fail_status(err, status,
                       "the Transfer-Encoding is not \"chunked\", the only one known here");
    else {
        framing->chunked = true;
        return CC_HTTP_PASS;
    }
    return CC_HTTP_REFUSE;
}

static enum cc_http_fate connection(struct cc_http_framing *framing, struct cc_span value)
{
    struct cc_span token;

    while (cc_http_next_in_list(&value, &token)) {
        framing->close |= cc_span_equal_nocase(token, CC_SPAN("close"));
        framing->keep_alive |= cc_span_equal_nocase(token, CC_SPAN("keep-alive"));
    }
    return CC_HTTP_PASS;
}

static enum cc_http_fate expect(struct cc_http_framing *framing, struct cc_span value,
                                struct cc_err *err)
{
    /* RFC 9110 10.1.1: ignored in HTTP/1.0. */
    if (framing->minor == 0)
        return CC_HTTP_PASS;
    if (!cc_span_equal_nocase(value, CC_SPAN("100-continue"))) {
        cc_fail_status(err, 417, "the only expectation known here is 100-continue");
        return CC_HTTP_REFUSE;
    }
    framing->expects_continue = true;
    return CC_HTTP_PASS;
}

enum cc_http_fate cc_http_field(struct cc_http_framing *framing, const struct cc_pair *field,
                                struct cc_err *err)
{
    struct cc_span name = field->name, value = field->value;

    /* By length first, since nearly every header is none of these. */
    switch (name.len) {
    case 4:
        return cc_span_equal(name, CC_SPAN("HOST")) ? host(framing, value, err) : CC_HTTP_PASS;
    case 5:
        /* "Proxy: x" would become HTTP_PROXY, which HTTP clients of the app take for the address
         * of their proxy (CVE-2016-5385, "httpoxy"). No such header is registered. */
        return cc_span_equal(name, CC_SPAN("PROXY")) ? CC_HTTP_DROP : CC_HTTP_PASS;
    case 6:
        return cc_span_equal(name, CC_SPAN("EXPECT")) ? expect(framing, value, err) : CC_HTTP_PASS;
    case 10:
        return cc_span_equal(name, CC_SPAN("CONNECTION")) ? connection(framing, value)
                                                          : CC_HTTP_PASS;
    case 12:
        return cc_span_equal(name, CC_SPAN("CONTENT_TYPE")) ? CC_HTTP_CGI : CC_HTTP_PASS;
    case 14:
        return cc_span_equal(name, CC_SPAN("CONTENT_LENGTH")) ? content_length(framing, value, err)
                                                              : CC_HTTP_PASS;
    case 17:
        return cc_span_equal(name, CC_SPAN("TRANSFER_ENCODING"))
                   ? transfer_encoding(framing, value, err)
                   : CC_HTTP_PASS;
    default:
        return CC_HTTP_PASS;
    }
}

bool cc_http_framing_check(const struct cc_http_framing *framing, struct cc_err *err)
{
    if (framing->minor > 0 && !framing->has_host)
        return cc_fail_status(err, 400, "there is no Host header");
    /* RFC 9112 6.1, 6.3: the classic of request smuggling. */
    if (framing->chunked && framing->has_length)
        return cc_fail_status(err, 400, "both Content-Length and Transfer-Encoding are given");
    return true;
}
