/* The names of variables as str objects that are made once, each with the last value that it had:
 * a worker meets the same few dozen names, and mostly the same values, again and again.
 *
 * Names come from clients (HTTP_...), so the table has a fixed size and a short longest probe, and
 * starts out with the usual names in it: a client can fill the rest, not push these out. Values of
 * names that carry secrets are never kept. Every function needs the GIL. */
#ifndef CC_PYTHON_NAMES_H
#define CC_PYTHON_NAMES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

/* What environ.c does about a variable besides passing it on. */
enum cc_name_role {
    CC_NAME_PLAIN,
    CC_NAME_UWSGI_SCHEME,
    CC_NAME_HTTPS,
    CC_NAME_REQUEST_SCHEME,
    CC_NAME_NEVER_EMPTY, /* SERVER_NAME, SERVER_PORT (PEP 3333): an empty one keeps the default */
};

struct cc_name {
    PyObject *key;   /* owned; NULL: a free slot */
    PyObject *value; /* owned; the last value, or NULL */
    uint32_t hash;
    uint8_t role; /* enum cc_name_role */
    bool secret;
};

struct cc_names;

/* NULL with an exception. */
struct cc_names *cc_names_new(void);
void cc_names_free(struct cc_names *names);
/* The entry of a name, made where there is room for it. NULL: not in the table (no exception), or
 * out of memory (with one). Lent until cc_names_free(). */
struct cc_name *cc_names_find(struct cc_names *names, struct cc_span name);
/* A new reference to the value as a latin-1 str; name may be NULL. NULL with an exception. */
PyObject *cc_name_value(struct cc_name *name, struct cc_span value);

#endif
