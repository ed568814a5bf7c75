/* What the log says of a worker's death: where it stood, if it could still say so, and one line
 * that tells how it died, what it ran, and what happens next. */
#ifndef CC_PROCESS_OBITUARY_H
#define CC_PROCESS_OBITUARY_H

#include "process/workers.h"

/* Before it leaves its seat. status: of waitpid(). delay: seconds until the next start; -1: there
 * is none. Says nothing of those that ended as they were told, or whose death was explained. */
void cc_obituary(struct cc_worker_entry *entry, int status, int delay);

#endif
