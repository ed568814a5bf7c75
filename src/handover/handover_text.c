/* See handover_text.h. Bytes outside of ASCII, and the sign itself, are written as %7f. */
#include "handover/handover_text.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static bool is_plain(unsigned char byte)
{
    return byte >= ' ' && byte < 0x7f && byte != '%';
}

json_t *cc_handover_text(const char *text)
{
    if (text == NULL)
        return json_null();
    char *escaped = cc_alloc(3 * strlen(text) + 1), *to = escaped;
    for (; *text != '\0'; text++) {
        if (is_plain((unsigned char)*text))
            *to++ = *text;
        else
            to += snprintf(to, 4, "%%%02x", (unsigned)(unsigned char)*text);
    }
    *to = '\0';
    json_t *value = json_string(escaped);
    free(escaped);
    return value;
}

static int digit(char byte)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = byte == '\0' ? NULL : strchr(digits, byte);

    return at == NULL ? -1 : (int)(at - digits);
}

/* The byte that is written there; -1: none. */
static int byte_at(const char *from)
{
    int high = digit(from[0]);
    int low = high < 0 ? -1 : digit(from[1]);

    return low < 0 || high * 16 + low == 0 ? -1 : high * 16 + low;
}

bool cc_handover_untext(const json_t *value, char **text)
{
    *text = NULL;
    if (json_is_null(value))
        return true;
    if (!json_is_string(value))
        return false;
    const char *from = json_string_value(value);
    char *plain = cc_alloc(strlen(from) + 1), *to = plain;
    for (; *from != '\0'; from++, to++) {
        int byte = *from == '%' ? byte_at(from + 1) : (unsigned char)*from;
        if (byte < 0 || (*from != '%' && !is_plain((unsigned char)byte))) {
            free(plain);
            return false;
        }
        *to = (char)byte;
        from += *from == '%' ? 2 : 0;
    }
    *to = '\0';
    *text = plain;
    return true;
}
