/* The server's log: standard error, which logto points at a file. Any thread and process; each call
 * writes its text whole with one write(2) and takes no lock. */
#ifndef CC_LOG_LOG_H
#define CC_LOG_LOG_H

#include <stdarg.h>

#include "base/attributes.h"

enum cc_log_level { CC_LOG_ERROR, CC_LOG_WARN, CC_LOG_INFO, CC_LOG_DEBUG };

/* Looks whether standard error leads to the systemd journal (JOURNAL_STREAM). While it does, a line
 * has the journal's level ("<4>") in place of time and pid, which the journal has itself. Once, at
 * the start, before there is any other thread. */
void cc_log_find_journal(void);
/* "[time] [pid] level: text". No newline in the format's end. The text may have several lines
 * (a traceback); it is cut at 64 KiB. */
void cc_log(enum cc_log_level level, const char *format, ...) CC_PRINTF(2, 3);
void cc_log_list(enum cc_log_level level, const char *format, va_list arguments) CC_PRINTF(2, 0);

#endif
