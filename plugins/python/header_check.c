/* See header_check.h. */
#include "python/header_check.h"

#include "request/header_bytes.h"

enum cc_app_header cc_app_header_kind(struct cc_span name)
{
    static const struct cc_span hop_by_hop[] = {
        {"Connection", 10},          {"Keep-Alive", 10}, {"Proxy-Authenticate", 18},
        {"Proxy-Authorization", 19}, {"TE", 2},          {"Trailers", 8},
        {"Transfer-Encoding", 17},   {"Upgrade", 7},
    };

    if (name.len == 0)
        return CC_APP_HEADER_NO_TOKEN;
    for (size_t i = 0; i < name.len; i++)
        if (!cc_is_token_byte(name.at[i]))
            return CC_APP_HEADER_NO_TOKEN;
    if (cc_span_equal_nocase(name, CC_SPAN("Content-Length")))
        return CC_APP_HEADER_LENGTH;
    for (size_t i = 0; i < sizeof hop_by_hop / sizeof hop_by_hop[0]; i++)
        if (cc_span_equal_nocase(name, hop_by_hop[i]))
            return CC_APP_HEADER_HOP_BY_HOP;
    return CC_APP_HEADER_PLAIN;
}

bool cc_header_value_ok(struct cc_span value)
{
    const char *end = value.at + value.len;

    return cc_find_control(value.at, end) == end;
}

bool cc_header_parse_status(struct cc_span text, int *status, struct cc_span *reason)
{
    int number = 0;

    if (text.len < 3 || (text.len > 3 && text.at[3] != ' '))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        number = number * 10 + (text.at[i] - '0');
    }
    size_t skip = text.len > 3 ? 4 : 3;
    *status = number;
    *reason = (struct cc_span){text.at + skip, text.len - skip};
    return number >= 200 && cc_header_value_ok(*reason);
}
