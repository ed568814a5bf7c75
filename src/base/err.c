/* See err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

static void write_text(struct cc_err *err, int status, const char *format, va_list arguments)
    CC_PRINTF(3, 0);

static void write_text(struct cc_err *err, int status, const char *format, va_list arguments)
{
    if (err == NULL)
        return;
    vsnprintf(err->text, sizeof err->text, format, arguments);
    err->status = status;
}

bool cc_fail(struct cc_err *err, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_text(err, 0, format, arguments);
    va_end(arguments);
    return false;
}

bool cc_fail_status(struct cc_err *err, int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_text(err, status, format, arguments);
    va_end(arguments);
    return false;
}
