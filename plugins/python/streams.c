/* See streams.h. A buffered file has a lock, which a thread that writes holds without the GIL. If
 * the fork comes just then, the child has a copy of the lock that nobody will ever release, and the
 * next line that it prints or logs never returns. Python's own hooks renew logging's locks, but not
 * these. Calling __init__() again makes a new lock in the same object, so everybody's reference to
 * it stays good; what is left in its buffer belongs to the thread, which writes it in the parent.
 */
#include "python/streams.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A new reference to the attribute, or NULL without an exception. */
static PyObject *get(PyObject *object, const char *attribute)
{
    PyObject *value = object == NULL ? NULL : PyObject_GetAttrString(object, attribute);

    PyErr_Clear();
    if (value == Py_None)
        Py_CLEAR(value);
    return value;
}

/* Only of io.BufferedWriter itself: what a class of the app's does when it is called is unknown. */
static void renew(PyObject *file, PyObject *class)
{
    PyObject *buffer = get(file, "buffer");
    PyObject *raw = NULL;

    if (buffer != NULL && (PyObject *)Py_TYPE(buffer) == class)
        raw = get(buffer, "raw");
    if (raw != NULL)
        Py_XDECREF(PyObject_CallMethod(buffer, "__init__", "O", raw));
    PyErr_Clear();
    Py_XDECREF(raw);
    Py_XDECREF(buffer);
}

/* The lock of the queue.Queue of a QueueHandler, which the listener's thread takes for each record.
 * Conditions of the queue share it. */
static void renew_queue(PyObject *handler)
{
    PyObject *queue = get(handler, "queue");
    PyObject *mutex = get(queue, "mutex");

    if (mutex != NULL)
        Py_XDECREF(PyObject_CallMethod(mutex, "_at_fork_reinit", NULL));
    PyErr_Clear();
    Py_XDECREF(mutex);
    Py_XDECREF(queue);
}

/* logging keeps weak references to all handlers in this list. */
static void renew_handlers(PyObject *class)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *list = get(PyDict_GetItemString(modules, "logging"), "_handlerList");
    Py_ssize_t count = list != NULL && PyList_Check(list) ? PyList_GET_SIZE(list) : 0;

    for (Py_ssize_t i = 0; i < count && i < PyList_GET_SIZE(list); i++) {
        PyObject *handler = PyObject_CallNoArgs(PyList_GET_ITEM(list, i));
        PyObject *stream = get(handler, "stream");
        PyErr_Clear();
        if (stream != NULL)
            renew(stream, class);
        if (handler != NULL)
            renew_queue(handler);
        Py_XDECREF(stream);
        Py_XDECREF(handler);
    }
    Py_XDECREF(list);
}

void cc_streams_after_fork(void)
{
    static const char *const names[] = {"stdout", "stderr", "__stdout__", "__stderr__"};
    PyObject *io = PyImport_ImportModule("io");
    PyObject *class = get(io, "BufferedWriter");

    PyErr_Clear();
    for (size_t i = 0; class != NULL && i < sizeof names / sizeof *names; i++) {
        PyObject *file = PySys_GetObject(names[i]); /* borrowed */
        if (file != NULL && file != Py_None)
            renew(file, class);
    }
    if (class != NULL)
        renew_handlers(class);
    Py_XDECREF(class);
    Py_XDECREF(io);
}
