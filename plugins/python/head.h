/* The response's head: from the app's status and list of headers to struct cc_head. */
#ifndef CC_PYTHON_HEAD_H
#define CC_PYTHON_HEAD_H

#include "python/python.h"

/* Checks both and replaces what head holds. False with an exception, and head is empty then. */
bool cc_head_set(struct cc_python *python, struct cc_head *head, PyObject *status,
                 PyObject *headers);
/* Gives up the strings, keeps the memory for the next request. */
void cc_head_reset(struct cc_head *head);
/* Frees the memory. */
void cc_head_clear(struct cc_head *head);

#endif
