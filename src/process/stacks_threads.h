/* The native stacks of this process's threads, collected by a signal to each. One report at a time.
 * Everything here may be called in a signal handler, on any thread, but prepare(). */
#ifndef CC_PROCESS_STACKS_THREADS_H
#define CC_PROCESS_STACKS_THREADS_H

#include <signal.h>
#include <stdbool.h>

#include "process/stacks_text.h"

/* Sets the handler by which threads tell; loads what unwinding needs. Main thread. */
void cc_stacks_threads_prepare(void);
/* Writes the stack of the calling thread from where the signal came: context is what its handler
 * was given. */
void cc_stacks_put_own(struct cc_stacks_text *text, void *context);
/* Writes the stacks of all other threads; those that do not tell within a fraction of a second are
 * named with the reason. */
void cc_stacks_put_others(struct cc_stacks_text *text);
/* In the handler of a crash: returns if the crash is not one of the code here. Else a damaged stack
 * is not walked any further, and this does not return. */
void cc_stacks_recover(void);

#endif
