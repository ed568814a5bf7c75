/* See log.h. */
#include "log/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "log/sink.h"

#define TEXT_MAX ((size_t)64 * 1024)

void cc_log(enum cc_log_level level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    cc_log_list(level, format, arguments);
    va_end(arguments);
}

/* Returns the length with the newline. */
static size_t fill(char *line, size_t size, size_t prefix, const char *format, va_list arguments)
{
    int len = vsnprintf(line + prefix, size - prefix, format, arguments);
    size_t end = prefix + (len < 0 ? 0 : (size_t)len);

    if (end >= size)
        end = size - 1;
    line[end] = '\n';
    return end + 1;
}

void cc_log_list(enum cc_log_level level, const char *format, va_list arguments)
{
    static const char *const word[] = {"error: ", "warning: ", "", "debug: "};
    char line[2048], when[32];
    struct tm tm;
    int saved = errno;
    time_t now = time(NULL);
    va_list again;

    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
    size_t prefix =
        (size_t)snprintf(line, sizeof line, "[%s] [%d] %s", when, (int)getpid(), word[level]);
    va_copy(again, arguments);
    errno = saved; /* for %m */
    size_t len = fill(line, sizeof line, prefix, format, arguments);
    if (len < sizeof line) {
        cc_sink_write(line, len);
    } else {
        char *text = cc_alloc(TEXT_MAX);
        snprintf(text, TEXT_MAX, "%.*s", (int)prefix, line);
        errno = saved;
        len = fill(text, TEXT_MAX, prefix, format, again);
        cc_sink_write(text, len);
        free(text);
    }
    va_end(again);
    errno = saved;
}
