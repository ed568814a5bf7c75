/* See http_target.h. */
#include "http/http_target.h"

#include "http/http_bytes.h"

static bool is_letter_or_digit(char c)
{
    char lower = (char)(c | 0x20);
    return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z');
}

/* reg-name and IPv4address (RFC 3986 3.2.2): unreserved, sub-delims, pct-encoded. */
static bool is_name(struct cc_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '%') {
            if (i + 2 >= text.len || cc_http_hex(text.at[i + 1]) < 0 ||
                cc_http_hex(text.at[i + 2]) < 0)
                return false;
        } else if (text.at[i] == '\0' ||
                   (!is_letter_or_digit(text.at[i]) && !strchr("-._~!$&'()*+,;=", text.at[i]))) {
            return false;
        }
    }
    return text.len > 0;
}

/* IP-literal without its brackets: an IPv6 address, or the "v1.x" form; the bytes are checked, not
 * the address, because nothing here connects to it. */
static bool is_literal(struct cc_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '\0' ||
            (!is_letter_or_digit(text.at[i]) && !strchr(":.-_~!$&'()*+,;=", text.at[i])))
            return false;
    return text.len > 0;
}

static bool is_port(struct cc_span text)
{
    uint64_t number;
    /* The digits may be missing: port = *DIGIT. */
    return text.len == 0 || cc_span_to_number(text, 65535, &number);
}

bool cc_http_is_authority(struct cc_span text)
{
    struct cc_span host = text, port = {"", 0};

    if (text.len > 0 && text.at[0] == '[') {
        const char *close = memchr(text.at, ']', text.len);
        if (close == NULL)
            return false;
        host = (struct cc_span){text.at + 1, (size_t)(close - text.at) - 1};
        port = (struct cc_span){close + 1, text.len - host.len - 2};
        if (port.len > 0 && port.at[0] != ':')
            return false;
        return is_literal(host) &&
               (port.len == 0 || is_port((struct cc_span){port.at + 1, port.len - 1}));
    }
    const char *colon = text.len == 0 ? NULL : memchr(text.at, ':', text.len);
    if (colon != NULL) {
        host.len = (size_t)(colon - text.at);
        port = (struct cc_span){colon + 1, text.len - host.len - 1};
    }
    return is_name(host) && is_port(port);
}

static bool decode(struct cc_span *path, struct cc_arena *arena, struct cc_err *err)
{
    const char *from = path->at, *end = path->at + path->len;

    if (memchr(from, '%', path->len) == NULL)
        return true;
    char *decoded = cc_arena_alloc(arena, path->len), *to = decoded;
    while (from < end) {
        if (*from != '%') {
            *to++ = *from++;
            continue;
        }
        int high = end - from < 3 ? -1 : cc_http_hex(from[1]);
        int low = high < 0 ? -1 : cc_http_hex(from[2]);
        if (low < 0)
            return cc_fail_status(err, 400,
                                  "a %% in the path is not followed by two digits 0-9A-F");
        if (high == 0 && low == 0)
            return cc_fail_status(err, 400, "the path has a %%00 in it");
        *to++ = (char)(high << 4 | low);
        from += 3;
    }
    *path = (struct cc_span){decoded, (size_t)(to - decoded)};
    return true;
}

/* The length of "http://" or "https://" at the start of text; 0: neither. */
static size_t scheme_length(struct cc_span text)
{
    const struct cc_span schemes[] = {CC_SPAN("http://"), CC_SPAN("https://")};

    for (size_t i = 0; i < 2; i++)
        if (text.len >= schemes[i].len &&
            cc_span_equal_nocase((struct cc_span){text.at, schemes[i].len}, schemes[i]))
            return schemes[i].len;
    return 0;
}

/* Takes "http://host" off the front of text; the rest may be empty. */
static bool take_authority(struct cc_http_target *target, struct cc_span *text, struct cc_err *err)
{
    size_t start = scheme_length(*text), end = start;

    if (start == 0)
        return cc_fail_status(err, 400,
                              "the request target is neither a path nor an http or https address");
    while (end < text->len && text->at[end] != '/' && text->at[end] != '?')
        end++;
    target->authority = (struct cc_span){text->at + start, end - start};
    if (!cc_http_is_authority(target->authority))
        return cc_fail_status(err, 400, "the address in the request line has no valid host");
    *text = (struct cc_span){text->at + end, text->len - end};
    return true;
}

bool cc_http_target_parse(struct cc_http_target *target, struct cc_span method, struct cc_span text,
                          struct cc_arena *arena, struct cc_err *err)
{
    *target = (struct cc_http_target){.path = CC_SPAN("/"), .query = CC_SPAN("")};
    if (cc_span_equal(method, CC_SPAN("CONNECT")))
        return cc_fail_status(err, 501, "CONNECT is for proxies, and this is none");
    /* For the server as a whole: as OPTIONS / for the app, since PEP 3333 wants a path that begins
     * with a slash. REQUEST_URI tells them apart. */
    if (text.len == 1 && text.at[0] == '*') {
        if (!cc_span_equal(method, CC_SPAN("OPTIONS")))
            return cc_fail_status(err, 400, "the request target * is for OPTIONS only");
        return true;
    }
    /* RFC 9112 3.2: no form of the target has a fragment. */
    if (memchr(text.at, '#', text.len) != NULL)
        return cc_fail_status(err, 400, "the request target has a # in it");
    if (text.at[0] != '/' && !take_authority(target, &text, err))
        return false;
    const char *mark = text.len == 0 ? NULL : memchr(text.at, '?', text.len);
    if (mark != NULL) {
        size_t path_len = (size_t)(mark - text.at);
        target->query = (struct cc_span){mark + 1, text.len - path_len - 1};
        text.len = path_len;
    }
    /* RFC 9110 4.2.3: an empty path is "/". */
    if (text.len > 0)
        target->path = text;
    return decode(&target->path, arena, err);
}
