/* The state of everything, in words: `ccontainer status` and the fifo's s. */
#ifndef CC_PROCESS_STATUS_H
#define CC_PROCESS_STATUS_H

#include "base/buf.h"
#include "process/master_state.h"

/* Appends a line for the master, one for each generation and one for each worker, without a newline
 * at the end. At most some 20 KiB. */
void cc_status_write(const struct cc_master *master, struct cc_buf *text);

#endif
