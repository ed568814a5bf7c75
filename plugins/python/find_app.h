/* Finds the app that the options name. With the GIL. */
#ifndef CC_PYTHON_FIND_APP_H
#define CC_PYTHON_FIND_APP_H

#include "python/python.h"

/* A new reference to the WSGI callable; NULL: err says what was searched where and what is nearest
 * to it. When the app's own code raised, its traceback is in the log. */
PyObject *cc_find_app(struct cc_python *python, struct cc_err *err);

#endif
