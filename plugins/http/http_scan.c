/* Where a head ends (see http_head.h). */
#include "http/http_bytes.h"
#include "http/http_head.h"

static enum cc_http_found bad(struct cc_err *err, int status, const char *text)
{
    cc_fail_status(err, status, "%s", text);
    return CC_HTTP_BAD;
}

static enum cc_http_found check_first_byte(struct cc_span bytes, struct cc_err *err)
{
    /* 0x16 0x03 begins a TLS record with a ClientHello (RFC 8446 5.1). */
    if (bytes.at[0] == 0x16)
        return bad(err, 400, "this socket speaks HTTP without TLS, and TLS came: use http://");
    if (!cc_is_token_byte(bytes.at[0]) && bytes.at[0] != '\r' && bytes.at[0] != '\n')
        return bad(err, 400, "the first byte is none that begins an HTTP request");
    return CC_HTTP_MORE;
}

/* The limits, for a line that ends (or is not over) at offset at. */
static enum cc_http_found check_size(const struct cc_http_scan *scan, int64_t at,
                                     const struct cc_http_settings *settings, struct cc_err *err)
{
    int64_t line = at - scan->start;

    if (scan->lines == 0 && line > settings->line_limit + 1) /* one for the CR */
        return bad(err, 414, "the request line is longer than http-max-request-line allows");
    if (line >= settings->head_limit)
        return bad(err, scan->lines == 0 ? 414 : 431,
                   "the request's head is longer than buffer-size allows");
    return CC_HTTP_MORE;
}

/* A line ends at offset at, with a line feed. */
static enum cc_http_found end_line(struct cc_http_scan *scan, struct cc_span bytes, uint32_t at,
                                   const struct cc_http_settings *settings, struct cc_err *err)
{
    uint32_t len = at - scan->line; /* with the CR */

    /* RFC 9112 2.2 allows a server to take a bare LF; one that does may see another request than
     * the proxy before it. */
    if (len == 0 || bytes.at[at - 1] != '\r')
        return bad(err, 400, "a line ends with a line feed alone, not with CR LF");
    scan->line = scan->seen = at + 1;
    if (len == 1 && scan->lines > 0)
        return CC_HTTP_WHOLE;
    if (len == 1) {
        /* RFC 9112 2.2: one empty line before the request line is an old client's mistake. */
        if (scan->start > 0)
            return bad(err, 400, "more than one empty line before the request line");
        scan->start = at + 1;
        return CC_HTTP_MORE;
    }
    if (scan->lines > settings->header_limit)
        return bad(err, 431, "there are more headers than http-max-headers allows");
    scan->lines++;
    return CC_HTTP_MORE;
}

enum cc_http_found cc_http_head_find(struct cc_http_scan *scan, struct cc_span bytes,
                                     const struct cc_http_settings *settings, struct cc_err *err)
{
    enum cc_http_found found = CC_HTTP_MORE;

    while (found == CC_HTTP_MORE && scan->seen < bytes.len) {
        if (scan->seen == scan->start)
            found = check_first_byte((struct cc_span){bytes.at + scan->seen, 1}, err);
        if (found != CC_HTTP_MORE)
            break;
        const char *feed = memchr(bytes.at + scan->seen, '\n', bytes.len - scan->seen);
        size_t at = feed == NULL ? bytes.len : (size_t)(feed - bytes.at);
        found = check_size(scan, (int64_t)at, settings, err);
        if (found != CC_HTTP_MORE)
            break;
        if (feed == NULL)
            scan->seen = (uint32_t)at;
        else
            found = end_line(scan, bytes, (uint32_t)at, settings, err);
    }
    return found;
}
