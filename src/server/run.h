/* One request: through the app, into the log and the counters, and its connection back to the loop.
 */
#ifndef CC_SERVER_RUN_H
#define CC_SERVER_RUN_H

#include "server/crew.h"

/* Runs the request on this app thread, which may hold the loop before and have lost it after. */
void cc_run(struct cc_thread *thread, struct cc_exchange *exchange);
/* The exchange is over: log, counters, and the connection goes back to the loop. thread: the one
 * that ran it and may hold the loop; NULL: another. The exchange is freed. */
void cc_run_complete(struct cc_exchange *exchange, struct cc_thread *thread);

#endif
