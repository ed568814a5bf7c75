/* The interpreter: start, forks, end. All on the process's main thread. */
#ifndef CC_PYTHON_INTERPRETER_H
#define CC_PYTHON_INTERPRETER_H

#include "python/python.h"

/* Starts it with home, pythonpath and the working directory in sys.path, and leaves the GIL with
 * the caller. False: err says why, and nothing runs. */
bool cc_interpreter_start(struct cc_python *python, struct cc_err *err);
/* Ends the app's threads and the interpreter, so that the app's atexit functions run. With the GIL;
 * afterwards nothing of Python's may be used. A thread of the app that does not end is waited for
 * for some seconds, then named in the log and left behind. */
void cc_interpreter_stop(struct cc_python *python);
/* Around a fork; without the GIL. The first before_fork says which threads of the app will be
 * missing in the workers. */
void cc_interpreter_before_fork(struct cc_python *python);
void cc_interpreter_after_fork_parent(struct cc_python *python);
void cc_interpreter_after_fork_child(struct cc_python *python, int worker);
/* This process is a worker now: after a fork, or after the app was loaded in the worker itself.
 * With the GIL. The app's post_fork_hook runs; should it fail, the log has it and the worker goes
 * on. */
void cc_interpreter_begin_worker(struct cc_python *python, int worker);

#endif
