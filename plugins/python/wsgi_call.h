/* One request through the app, as PEP 3333 lays it down. */
#ifndef CC_PYTHON_WSGI_CALL_H
#define CC_PYTHON_WSGI_CALL_H

#include "python/python.h"

/* Answers the request and ends the reply, whatever the app does. On the app thread, without the
 * GIL; takes it and gives it back. */
void cc_wsgi_call(struct cc_python_thread *thread, struct cc_request *request,
                  struct cc_reply *reply);
/* Frees what the thread kept for its next request. With the GIL. */
void cc_wsgi_thread_clear(struct cc_python_thread *thread);

#endif
