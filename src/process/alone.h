/* Without a master: one process loads the app, serves, and ends. */
#ifndef CC_PROCESS_ALONE_H
#define CC_PROCESS_ALONE_H

#include "process/process.h"

/* Serves until SIGINT or SIGTERM. tidy(data) is called where the process has to end with requests
 * still running: it removes what vacuum removes; it runs on a thread of ours and must not touch the
 * app. Returns the exit code. */
int cc_alone_run(const struct cc_launch *launch, void (*tidy)(void *data), void *data);

#endif
