/* Threads that the app started itself. On the main thread, with the GIL. */
#ifndef CC_PYTHON_THREADS_H
#define CC_PYTHON_THREADS_H

#include "python/python.h"

/* Says which threads run, because a fork leaves them behind: one warning with the remedy, or
 * nothing. */
void cc_threads_warn(struct cc_python *python);
/* Waits for the threads that are not daemons, as Python does at its end, but not for ever. False:
 * some still run; the log names them. */
bool cc_threads_end(struct cc_python *python);

#endif
