/* Threads that the app started itself. On the main thread, with the GIL. */
#ifndef CC_PYTHON_THREADS_H
#define CC_PYTHON_THREADS_H

#include "python/python.h"

/* True: there are threads, which a fork leaves behind. warn: says so, with their names and the
 * remedy. */
bool cc_threads_note(struct cc_python *python, bool warn);
/* Waits for the threads that are not daemons, as Python does at its end, but not for ever. False:
 * some still run; the log names them. */
bool cc_threads_end(struct cc_python *python);

#endif
