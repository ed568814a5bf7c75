/* "Did you mean app?": what in a module is most likely the app. With the GIL. */
#ifndef CC_PYTHON_NEAREST_H
#define CC_PYTHON_NEAREST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/buf.h"

/* Appends a sentence about the module's callables to text: the nearest to wanted and the rest of
 * them, or that there are none. Leaves no exception. */
void cc_nearest_describe(PyObject *module, const char *wanted, struct cc_buf *text);

#endif
