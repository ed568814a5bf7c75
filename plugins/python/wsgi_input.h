/* wsgi.input: reads the request's body, which is whole, and ends where it ends. Every function
 * needs the GIL. */
#ifndef CC_PYTHON_WSGI_INPUT_H
#define CC_PYTHON_WSGI_INPUT_H

#include "python/python.h"

/* Once a process, before the first use. False with an exception. */
bool cc_input_ready(void);
/* A reference (the caller must not give it up) to an input for the body of the thread's call: the
 * one of its last request, if the app kept no reference. NULL with an exception. */
PyObject *cc_input_begin(struct cc_python_thread *thread, struct cc_body *body);
/* The request is over: waits for a thread of the app that is just reading, then makes references
 * that the app kept refuse to read. */
void cc_input_detach(struct cc_python_thread *thread);

#endif
