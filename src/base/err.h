/* What went wrong, for the caller to place and the top to print once. Owned by the caller. */
#ifndef CC_BASE_ERR_H
#define CC_BASE_ERR_H

#include <stdbool.h>

#include "base/attributes.h"

struct cc_err {
    char text[1024]; /* one or more lines, no newline at the end */
    int status;      /* HTTP status to refuse a request with, or 0 */
};

/* Writes the text, cut where it is too long. Always false, so that a function that fails ends with
 * `return cc_fail(err, ...)`. err may be NULL where the caller does not care why. */
bool cc_fail(struct cc_err *err, const char *format, ...) CC_PRINTF(2, 3) CC_COLD;
/* The same, with the HTTP status that the peer gets. */
bool cc_fail_status(struct cc_err *err, int status, const char *format, ...)
    CC_PRINTF(3, 4) CC_COLD;

#endif
