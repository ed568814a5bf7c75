/* The configuration read again, for a reload. */
#ifndef CC_CLI_REREAD_H
#define CC_CLI_REREAD_H

#include "process/process.h"

/* Of every launch that this room has made. */
extern const struct cc_source cc_reread_source;

#endif
