/* The configuration read again, for a reload. */
#ifndef CC_CLI_REREAD_H
#define CC_CLI_REREAD_H

#include "process/process.h"

/* Of every launch that this room has made. */
extern const struct cc_source cc_reread_source;
/* Errors and warnings as one entry of the log, a line each; nothing where there are none. what:
 * what the reading was for. */
void cc_reread_say(const char *what, const struct cc_problems *problems);

#endif
