/* See start_response.h. Both callables are objects with a vectorcall slot, made once a thread: a
 * request neither allocates them nor packs arguments into a tuple. */
#include "python/start_response.h"

#include "base/attributes.h"
#include "python/head.h"
#include "python/response.h"

struct start_arguments {
    PyObject *status, *headers, *exc_info; /* borrowed; NULL: not given */
};

/* PEP 3333 names the arguments without promising that they may be named; exc_info often is. */
static bool take_keywords(struct start_arguments *taken, PyObject *const *values, PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject **to = NULL;
        if (PyUnicode_CompareWithASCIIString(name, "exc_info") == 0)
            to = &taken->exc_info;
        else if (PyUnicode_CompareWithASCIIString(name, "status") == 0)
            to = &taken->status;
        else if (PyUnicode_CompareWithASCIIString(name, "headers") == 0 ||
                 PyUnicode_CompareWithASCIIString(name, "response_headers") == 0)
            to = &taken->headers;
        if (to == NULL || *to != NULL) {
            PyErr_Format(PyExc_TypeError, "start_response() got %s argument '%U'",
                         to == NULL ? "an unexpected" : "twice the", name);
            return false;
        }
        *to = values[i];
    }
    return true;
}

static bool take_arguments(struct start_arguments *taken, PyObject *const *arguments, size_t count,
                           PyObject *names)
{
    *taken =
        (struct start_arguments){count > 0 ? arguments[0] : NULL, count > 1 ? arguments[1] : NULL,
                                 count > 2 ? arguments[2] : NULL};
    if (names != NULL && !take_keywords(taken, arguments + count, names))
        return false;
    if (count > 3 || taken->status == NULL || taken->headers == NULL) {
        PyErr_Format(PyExc_TypeError,
                     "start_response(status, response_headers, exc_info=None) takes two or three "
                     "arguments, %zu given",
                     count);
        return false;
    }
    if (taken->exc_info == Py_None)
        taken->exc_info = NULL;
    return true;
}

/* With exc_info a head that was not sent yet is replaced; once it was, the exception goes on (PEP
 * 3333, "The start_response() Callable"). False with an exception. */
static bool may_start(const struct cc_call *call, PyObject *exc_info)
{
    if (exc_info == NULL) {
        if (CC_LIKELY(call->head.status == 0))
            return true;
        PyErr_SetString(PyExc_AssertionError,
                        "start_response() was called again without exc_info (PEP 3333)");
        return false;
    }
    if (!PyTuple_Check(exc_info) || PyTuple_GET_SIZE(exc_info) != 3) {
        PyErr_Format(PyExc_TypeError, "exc_info must be a tuple as of sys.exc_info(), not %.200R",
                     exc_info);
        return false;
    }
    if (!call->head_sent)
        return true;
    PyObject *type = PyTuple_GET_ITEM(exc_info, 0), *value = PyTuple_GET_ITEM(exc_info, 1);
    PyObject *trace = PyTuple_GET_ITEM(exc_info, 2);
    if (!PyExceptionClass_Check(type) || !PyExceptionInstance_Check(value)) {
        PyErr_SetString(PyExc_TypeError,
                        "exc_info holds no exception, and the head was sent already");
        return false;
    }
    if (PyTraceBack_Check(trace))
        PyException_SetTraceback(value, trace);
    PyErr_SetObject((PyObject *)Py_TYPE(value), value);
    return false;
}

static bool is_over(const struct cc_bound *self, const char *name)
{
    if (CC_LIKELY(self->call != NULL))
        return false;
    PyErr_Format(PyExc_RuntimeError, "%s() was called after its request was over", name);
    return true;
}

static PyObject *start_response(PyObject *callable, PyObject *const *arguments, size_t nargsf,
                                PyObject *names)
{
    struct cc_bound *self = (struct cc_bound *)callable;
    struct start_arguments taken;

    if (is_over(self, "start_response") ||
        !take_arguments(&taken, arguments, (size_t)PyVectorcall_NARGS(nargsf), names))
        return NULL;
    struct cc_call *call = self->call;
    if (!may_start(call, taken.exc_info) ||
        !cc_head_set(call->thread->python, &call->head, taken.status, taken.headers))
        return NULL;
    PyObject *write = (PyObject *)call->thread->write;
    Py_INCREF(write);
    return write;
}

static PyObject *write_body(PyObject *callable, PyObject *const *arguments, size_t nargsf,
                            PyObject *names)
{
    struct cc_bound *self = (struct cc_bound *)callable;

    if (is_over(self, "write"))
        return NULL;
    if (PyVectorcall_NARGS(nargsf) != 1 || (names != NULL && PyTuple_GET_SIZE(names) > 0)) {
        PyErr_SetString(PyExc_TypeError, "write(body_data) takes one argument");
        return NULL;
    }
    if (!cc_response_chunk(self->call, arguments[0], "write()'s argument"))
        return NULL;
    if (self->call != NULL && self->call->gone) {
        PyErr_SetString(PyExc_BrokenPipeError, "the client is gone");
        return NULL;
    }
    Py_RETURN_NONE;
}

static void bound_dealloc(PyObject *self)
{
    PyObject_Free(self);
}

static PyTypeObject start_response_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ccontainer.start_response",
    .tp_doc = PyDoc_STR("start_response(status, response_headers, exc_info=None) -> write"),
    .tp_basicsize = sizeof(struct cc_bound),
    .tp_dealloc = bound_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(struct cc_bound, vectorcall),
    .tp_call = PyVectorcall_Call,
};

static PyTypeObject write_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ccontainer.write",
    .tp_doc = PyDoc_STR("write(body_data) -> None"),
    .tp_basicsize = sizeof(struct cc_bound),
    .tp_dealloc = bound_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(struct cc_bound, vectorcall),
    .tp_call = PyVectorcall_Call,
};

bool cc_start_response_ready(void)
{
    return PyType_Ready(&start_response_type) == 0 && PyType_Ready(&write_type) == 0;
}

static bool renew(struct cc_bound **bound, PyTypeObject *type, vectorcallfunc vectorcall,
                  struct cc_call *call)
{
    if (CC_UNLIKELY(*bound == NULL)) {
        *bound = PyObject_New(struct cc_bound, type);
        if (*bound == NULL)
            return false;
        (*bound)->vectorcall = vectorcall;
    }
    (*bound)->call = call;
    return true;
}

bool cc_start_response_begin(struct cc_call *call)
{
    return renew(&call->thread->start_response, &start_response_type, start_response, call) &&
           renew(&call->thread->write, &write_type, write_body, call);
}

static void detach(struct cc_bound **bound)
{
    if (*bound == NULL)
        return;
    (*bound)->call = NULL;
    if (CC_UNLIKELY(Py_REFCNT(*bound) > 1))
        Py_CLEAR(*bound); /* the app keeps it: it must not come to life with the next request */
}

void cc_start_response_detach(struct cc_python_thread *thread)
{
    detach(&thread->start_response);
    detach(&thread->write);
}
