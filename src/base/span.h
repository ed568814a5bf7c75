/* Bytes by pointer and length: never relies on a NUL, owns nothing. */
#ifndef CC_BASE_SPAN_H
#define CC_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cc_span {
    const char *at;
    size_t len;
};

#define CC_SPAN(literal) ((struct cc_span){"" literal, sizeof(literal) - 1})

static inline struct cc_span cc_span_of(const char *text)
{
    return (struct cc_span){text, text == NULL ? 0 : strlen(text)};
}

static inline bool cc_span_equal(struct cc_span a, struct cc_span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Without regard to the case of ASCII letters (no locale). */
bool cc_span_equal_nocase(struct cc_span a, struct cc_span b);
/* Without blanks and tabs at both ends. */
struct cc_span cc_span_trim(struct cc_span span);
/* Puts a question mark for each byte of the text that is no printable ASCII. */
void cc_text_printable(char *text);
/* Whether name is one of the words; any of the separators stands between two. */
bool cc_span_is_word(const char *words, const char *separators, const char *name);
/* A decimal number of digits only that is at most max; false on anything else (also on none). */
bool cc_span_to_number(struct cc_span span, uint64_t max, uint64_t *number);

/* Writes the number in decimal, without the cost of a format: at most CC_DIGITS_MAX bytes. Returns
 * where they end. */
#define CC_DIGITS_MAX ((size_t)20)
char *cc_put_number(char *to, uint64_t number);

#endif
