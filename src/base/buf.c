/* See buf.h. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

char *cc_buf_reserve(struct cc_buf *buf, size_t extra)
{
    if (buf->cap - buf->len < extra) {
        size_t cap = buf->cap < 256 ? 256 : buf->cap;
        while (cap - buf->len < extra)
            cap *= 2;
        buf->at = cc_realloc(buf->at, cap);
        buf->cap = cap;
    }
    return buf->at + buf->len;
}

void cc_buf_append(struct cc_buf *buf, const void *bytes, size_t len)
{
    if (len == 0)
        return;
    memcpy(cc_buf_reserve(buf, len), bytes, len);
    buf->len += len;
}

void cc_buf_printf(struct cc_buf *buf, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (len <= 0)
        return;
    char *to = cc_buf_reserve(buf, (size_t)len + 1);
    va_start(arguments, format);
    vsnprintf(to, (size_t)len + 1, format, arguments);
    va_end(arguments);
    buf->len += (size_t)len;
}

void cc_buf_append_number(struct cc_buf *buf, uint64_t number)
{
    char *to = cc_buf_reserve(buf, CC_DIGITS_MAX);

    buf->len += (size_t)(cc_put_number(to, number) - to);
}

const char *cc_buf_text(struct cc_buf *buf)
{
    *cc_buf_reserve(buf, 1) = '\0';
    return buf->at;
}

void cc_buf_clear(struct cc_buf *buf)
{
    free(buf->at);
    *buf = (struct cc_buf){0};
}
