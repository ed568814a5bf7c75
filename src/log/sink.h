/* Where finished log lines go: standard error, whatever it is. */
#ifndef CC_LOG_SINK_H
#define CC_LOG_SINK_H

#include <stddef.h>

/* Writes the bytes (whole lines) with one system call. Never crashes and never blocks for good: a
 * full disk or a closed descriptor loses the lines; so does a pipe or socket whose reader has not
 * taken anything for a second, and the first line that gets through again says how many were lost.
 * Keeps errno. Any thread and process. */
void cc_sink_write(const char *bytes, size_t len);

#endif
