/* See span.h. */
#include "base/span.h"

static unsigned char lower(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte | 0x20) : byte;
}

bool cc_span_equal_nocase(struct cc_span a, struct cc_span b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.at[i]) != lower(b.at[i]))
            return false;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct cc_span cc_span_trim(struct cc_span span)
{
    while (span.len > 0 && is_blank(span.at[0])) {
        span.at++;
        span.len--;
    }
    while (span.len > 0 && is_blank(span.at[span.len - 1]))
        span.len--;
    return span;
}

bool cc_span_to_number(struct cc_span span, uint64_t max, uint64_t *number)
{
    uint64_t sum = 0;

    if (span.len == 0)
        return false;
    for (size_t i = 0; i < span.len; i++) {
        if (span.at[i] < '0' || span.at[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(span.at[i] - '0');
        if (sum > (max - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (sum > max)
        return false;
    *number = sum;
    return true;
}

bool cc_span_is_word(const char *words, const char *separators, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = words; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, separators);
        if (word == len && memcmp(at, name, len) == 0)
            return true;
        at += word + (at[word] != '\0');
    }
    return false;
}

char *cc_put_number(char *to, uint64_t number)
{
    char digits[CC_DIGITS_MAX];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    memcpy(to, digits + at, sizeof digits - at);
    return to + (sizeof digits - at);
}

void cc_text_printable(char *text)
{
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '?';
}
