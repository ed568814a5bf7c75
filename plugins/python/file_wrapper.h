/* wsgi.file_wrapper (PEP 3333, "Optional Platform-Specific File Handling"). Every function needs
 * the GIL. */
#ifndef CC_PYTHON_FILE_WRAPPER_H
#define CC_PYTHON_FILE_WRAPPER_H

#include "python/python.h"

/* The class; NULL with an exception. Borrowed: it lives as long as the process. */
PyObject *cc_file_wrapper_class(void);

enum cc_wrapped {
    CC_WRAPPED_SENT,   /* done by sendfile(2) */
    CC_WRAPPED_NO,     /* no wrapper, or not around a plain file: to be iterated */
    CC_WRAPPED_FAILED, /* an exception is set */
};

/* Sends the file in a wrapper that the app returned as it is. */
enum cc_wrapped cc_file_wrapper_send(struct cc_call *call, PyObject *result);

#endif
