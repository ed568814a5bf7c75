/* What the app in a worker asks of the process manager (struct cc_app_context, ask). */
#ifndef CC_PROCESS_ASKING_H
#define CC_PROCESS_ASKING_H

#include "plugin/app.h"

/* This process is a worker, and the channel leads to its parent; -1: not any more. Main thread. */
void cc_asking_set(int channel);
/* Says why in the log and sends the message. Any thread. */
void cc_asking_ask(enum cc_app_ask what, const char *why);

#endif
