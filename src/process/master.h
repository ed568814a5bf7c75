/* The master: starts generations and keeps one alive, reloads, stops. Never runs app code. */
#ifndef CC_PROCESS_MASTER_H
#define CC_PROCESS_MASTER_H

#include "process/process.h"

/* Serves until it is told to stop, with no child left. Returns the exit code; in each forked child
 * too, at that child's end. in_child(data) is called first in each, to let go of what only the
 * master needs. *launch: becomes the one that counts at the end (a reload releases the one before),
 * and in a child its own. */
int cc_master_run(struct cc_launch **launch, void (*in_child)(void *data), void *data);

#endif
