/* See header_check.h. */
#include "python/header_check.h"

/* tchar of RFC 9110, 5.6.2. */
static const bool token_byte[256] = {
    ['!'] = true,         ['#'] = true,         ['$'] = true,         ['%'] = true, ['&'] = true,
    ['\''] = true,        ['*'] = true,         ['+'] = true,         ['-'] = true, ['.'] = true,
    ['^'] = true,         ['_'] = true,         ['`'] = true,         ['|'] = true, ['~'] = true,
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
};

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
        if (!token_byte[(unsigned char)name.at[i]])
            return CC_APP_HEADER_NO_TOKEN;
    if (cc_span_equal_nocase(name, CC_SPAN("Content-Length")))
        return CC_APP_HEADER_LENGTH;
    for (size_t i = 0; i < sizeof hop_by_hop / sizeof hop_by_hop[0]; i++)
        if (cc_span_equal_nocase(name, hop_by_hop[i]))
            return CC_APP_HEADER_HOP_BY_HOP;
    return CC_APP_HEADER_PLAIN;
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\t') || c == 0x7f;
}

bool cc_header_value_ok(struct cc_span value)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    size_t i = 0;

    /* Eight bytes at once: a high bit is left where a byte is under 0x20 or is 0x7f, and may be
     * left in the byte after such a one, so the exact look follows. */
    for (; i + 8 <= value.len; i += 8) {
        uint64_t word;
        memcpy(&word, value.at + i, 8);
        uint64_t low = (word - ones * 0x20) & ~word & high;
        uint64_t del = word ^ ones * 0x7f;
        if ((low | ((del - ones) & ~del & high)) == 0)
            continue;
        for (size_t k = i; k < i + 8; k++)
            if (is_control((unsigned char)value.at[k]))
                return false;
    }
    for (; i < value.len; i++)
        if (is_control((unsigned char)value.at[i]))
            return false;
    return true;
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
