/* See http_bytes.h. */
#include "http/http_bytes.h"

bool cc_http_is_token(struct cc_span span)
{
    for (size_t i = 0; i < span.len; i++)
        if (!cc_is_token_byte(span.at[i]))
            return false;
    return span.len > 0;
}

int cc_http_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool cc_http_next_in_list(struct cc_span *rest, struct cc_span *element)
{
    while (rest->len > 0) {
        const char *comma = memchr(rest->at, ',', rest->len);
        size_t len = comma == NULL ? rest->len : (size_t)(comma - rest->at);
        size_t taken = comma == NULL ? len : len + 1;
        *element = cc_span_trim((struct cc_span){rest->at, len});
        *rest = (struct cc_span){rest->at + taken, rest->len - taken};
        if (element->len > 0)
            return true;
    }
    return false;
}
