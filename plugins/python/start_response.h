/* start_response() and the write() that it returns (PEP 3333). Every function needs the GIL. */
#ifndef CC_PYTHON_START_RESPONSE_H
#define CC_PYTHON_START_RESPONSE_H

#include "python/python.h"

/* Once a process, before the first use. False with an exception. */
bool cc_start_response_ready(void);
/* Gives the thread its two callables for the call; those of its last request are used again if the
 * app kept no reference. False with an exception. */
bool cc_start_response_begin(struct cc_call *call);
/* The request is over: from now on references that the app kept only raise. */
void cc_start_response_detach(struct cc_python_thread *thread);

#endif
