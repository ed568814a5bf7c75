/* A growing run of bytes. One thread at a time. An all-zero buffer is a valid empty one. */
#ifndef CC_BASE_BUF_H
#define CC_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/span.h"

struct cc_buf {
    char *at; /* owned; not NUL-terminated unless cc_buf_text() was called last */
    size_t len, cap;
};

/* Makes room for extra more bytes and returns where they go; the caller adds to len what it wrote.
 */
char *cc_buf_reserve(struct cc_buf *buf, size_t extra);
void cc_buf_append(struct cc_buf *buf, const void *bytes, size_t len);
void cc_buf_printf(struct cc_buf *buf, const char *format, ...) CC_PRINTF(2, 3);
/* The number in decimal, without the cost of a format. */
void cc_buf_append_number(struct cc_buf *buf, uint64_t number);
/* The bytes with a NUL after them; valid until the next change. */
const char *cc_buf_text(struct cc_buf *buf);
/* Frees the memory; the buffer may be used again. */
void cc_buf_clear(struct cc_buf *buf);

static inline void cc_buf_append_span(struct cc_buf *buf, struct cc_span span)
{
    cc_buf_append(buf, span.at, span.len);
}

#define CC_BUF_LITERAL(buf, literal) cc_buf_append(buf, "" literal, sizeof(literal) - 1)

#endif
