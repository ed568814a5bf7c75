/* See log.h. */
#include "log/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "log/sink.h"

#define TEXT_MAX ((size_t)64 * 1024)

void cc_log(enum cc_log_level level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    cc_log_list(level, format, arguments);
    va_end(arguments);
}

/* What JOURNAL_STREAM names; ino 0: nothing. Written before the first thread and process. */
static struct {
    dev_t device;
    ino_t inode;
} journal;

void cc_log_find_journal(void)
{
    const char *text = getenv("JOURNAL_STREAM");
    uintmax_t device, inode;
    char end;

    if (text == NULL || sscanf(text, "%ju:%ju%c", &device, &inode, &end) != 2)
        return;
    journal.device = (dev_t)device;
    journal.inode = (ino_t)inode;
}

/* Asked for each line: logto, the app and daemonize may point it elsewhere. */
static bool goes_to_journal(void)
{
    struct stat stat;

    return journal.inode != 0 && fstat(STDERR_FILENO, &stat) == 0 && stat.st_ino == journal.inode &&
           stat.st_dev == journal.device;
}

/* The journal takes each line for a message of its own, so each needs its level. */
static void write_for_journal(enum cc_log_level level, const char *text, size_t len)
{
    static const char *const levels[] = {"<3>", "<4>", "<6>", "<7>"};
    struct cc_buf lines = {0};

    while (len > 0) {
        const char *newline = memchr(text, '\n', len);
        size_t line = newline == NULL ? len : (size_t)(newline - text) + 1;
        cc_buf_append(&lines, levels[level], strlen(levels[level]));
        cc_buf_append(&lines, text, line);
        text += line;
        len -= line;
    }
    cc_sink_write(cc_buf_text(&lines), lines.len);
    cc_buf_clear(&lines);
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

/* "[time] [pid] level: ". Returns its length. */
static size_t put_head(enum cc_log_level level, char *line, size_t size)
{
    static const char *const word[] = {"error: ", "warning: ", "", "debug: "};
    char when[32];
    struct tm tm;
    time_t now = time(NULL);

    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
    return (size_t)snprintf(line, size, "[%s] [%d] %s", when, (int)getpid(), word[level]);
}

void cc_log_list(enum cc_log_level level, const char *format, va_list arguments)
{
    char line[2048], *whole = line;
    int saved = errno;
    bool to_journal = goes_to_journal();
    size_t head = to_journal ? 0 : put_head(level, line, sizeof line);
    va_list again;

    va_copy(again, arguments);
    errno = saved; /* for %m */
    size_t len = fill(line, sizeof line, head, format, arguments);
    if (len >= sizeof line) {
        whole = cc_alloc(TEXT_MAX);
        memcpy(whole, line, head);
        errno = saved;
        len = fill(whole, TEXT_MAX, head, format, again);
    }
    if (to_journal)
        write_for_journal(level, whole, len);
    else
        cc_sink_write(whole, len);
    if (whole != line)
        free(whole);
    va_end(again);
    errno = saved;
}
