/* See alloc.h. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory, size_t size) CC_MUST_CHECK;

static void *checked(void *memory, size_t size)
{
    if (memory == NULL && size > 0) {
        fprintf(stderr, "ccontainer: out of memory (%zu bytes asked for)\n", size);
        abort();
    }
    return memory;
}

void *cc_alloc(size_t size)
{
    return checked(malloc(size), size);
}

void *cc_alloc_zeroed(size_t count, size_t size)
{
    return checked(calloc(count, size), count * size);
}

void *cc_realloc(void *old, size_t size)
{
    return checked(realloc(old, size), size);
}

char *cc_strndup(const char *text, size_t len)
{
    char *copy = cc_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *cc_strdup(const char *text)
{
    return cc_strndup(text, strlen(text));
}

char *cc_format(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    int len = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (len < 0)
        return checked(NULL, 1);
    return text;
}
