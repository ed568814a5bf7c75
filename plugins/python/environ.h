/* The environ of PEP 3333, from a request's CGI variables. Every function needs the GIL. */
#ifndef CC_PYTHON_ENVIRON_H
#define CC_PYTHON_ENVIRON_H

#include "python/python.h"

/* What every environ begins with, and the names that are known. file_wrapper: the class for
 * wsgi.file_wrapper, or NULL to leave it out. NULL with an exception. */
struct cc_environ *cc_environ_new(const struct cc_app_context *context, PyObject *file_wrapper);
void cc_environ_free(struct cc_environ *environ);
/* A new dict for one request. input: for wsgi.input. NULL with an exception. */
PyObject *cc_environ_make(struct cc_environ *environ, const struct cc_request *request,
                          PyObject *input);

#endif
