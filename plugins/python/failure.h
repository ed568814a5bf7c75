/* Tells people what went wrong in the app. Every function needs the GIL. */
#ifndef CC_PYTHON_FAILURE_H
#define CC_PYTHON_FAILURE_H

#include "python/python.h"

/* Writes the current exception with its whole traceback to sys.stderr, in one piece, under a line
 * that says what was being done, and clears it. SystemExit and KeyboardInterrupt are logged like
 * any other: a request does not end a worker. */
void cc_python_log_exception(const struct cc_python *python, const char *what);
/* The same for an exception in a request: the line names the request. */
void cc_python_log_failure(const struct cc_call *call, const char *what);
/* One line about a request to the log: "GET /path: text". */
void cc_python_log_request(const struct cc_call *call, enum cc_app_log level, const char *format,
                           ...) CC_PRINTF(3, 4);
/* Writes "TypeError: text" of the current exception to err, after prefix, and clears it. */
void cc_python_exception_text(struct cc_err *err, const char *prefix);

#endif
