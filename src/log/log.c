/* See log.h. */
#include "log/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void cc_log(enum cc_log_level level, const char *format, ...)
{
    static const char *const word[] = {"error: ", "warning: ", "", "debug: "};
    char line[4096];
    char when[32];
    struct tm tm;
    int saved = errno;
    time_t now = time(NULL);
    va_list arguments;

    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
    int len = snprintf(line, sizeof line, "[%s] [%d] %s", when, (int)getpid(), word[level]);
    va_start(arguments, format);
    errno = saved;
    len += vsnprintf(line + len, sizeof line - (size_t)len, format, arguments);
    va_end(arguments);
    if ((size_t)len >= sizeof line)
        len = (int)sizeof line - 1;
    line[len++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, (size_t)len);
    (void)written; /* a full disk must not stop the server, and there is nowhere else to say it */
    errno = saved;
}
