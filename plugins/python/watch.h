/* py-autoreload: looks whether the files of the imported modules change. */
#ifndef CC_PYTHON_WATCH_H
#define CC_PYTHON_WATCH_H

#include "python/python.h"

/* Notes the files as they are, right after the app was loaded. With the GIL. */
void cc_watch_note(struct cc_python *python);
/* Starts a thread that looks every py-autoreload seconds, in the first worker. With or without the
 * GIL. */
void cc_watch_start(struct cc_python *python);
/* Ends the thread and frees. Main thread, with the GIL, which it lets go meanwhile. */
void cc_watch_stop(struct cc_python *python);

#endif
