/* See threads.h. */
#include "python/threads.h"

#include "base/buf.h"
#include "python/failure.h"

#define END_SECONDS 3.0

static bool is_true(PyObject *object, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(object, attribute);
    int truth = value == NULL ? 0 : PyObject_IsTrue(value);

    Py_XDECREF(value);
    PyErr_Clear();
    return truth == 1;
}

static void add_name(struct cc_buf *names, PyObject *thread)
{
    PyObject *name = PyObject_GetAttrString(thread, "name");
    const char *text = name == NULL || !PyUnicode_Check(name) ? NULL : PyUnicode_AsUTF8(name);

    cc_buf_printf(names, "%s%s", names->len == 0 ? "" : ", ", text == NULL ? "?" : text);
    PyErr_Clear();
    Py_XDECREF(name);
}

/* Appends the names of the running threads but the main one and returns their number. */
static size_t list_threads(struct cc_buf *names, bool daemons_too)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *all = threading == NULL ? NULL : PyObject_CallMethod(threading, "enumerate", NULL);
    PyObject *first =
        threading == NULL ? NULL : PyObject_CallMethod(threading, "main_thread", NULL);
    size_t count = 0;

    for (Py_ssize_t i = 0; all != NULL && PyList_Check(all) && i < PyList_GET_SIZE(all); i++) {
        PyObject *thread = PyList_GET_ITEM(all, i);
        if (thread == first || (!daemons_too && is_true(thread, "daemon")))
            continue;
        add_name(names, thread);
        count++;
    }
    PyErr_Clear();
    Py_XDECREF(first);
    Py_XDECREF(all);
    Py_XDECREF(threading);
    return count;
}

bool cc_threads_note(struct cc_python *python, bool warn)
{
    struct cc_buf names = {0};
    size_t count = list_threads(&names, true);

    if (count > 0 && warn)
        python->context.log(
            CC_APP_LOG_WARN,
            "the app started %zu thread%s while it was imported (%s): %s will not run in the "
            "workers, which are forked, and a lock that such a thread holds stays locked there; "
            "set \"lazy-apps = true\", so that each worker imports the app itself, or start "
            "threads after the fork (@postfork of uwsgidecorators, os.register_at_fork()) or when "
            "the first request comes",
            count, count == 1 ? "" : "s", cc_buf_text(&names), count == 1 ? "it" : "they");
    cc_buf_clear(&names);
    return count > 0;
}

/* threading._shutdown() joins every thread that is no daemon and stops executors; it runs in a
 * daemon thread of its own, so that the wait for it can end. A new reference, or NULL. */
static PyObject *start_shutdown(PyObject *threading)
{
    PyObject *class = PyObject_GetAttrString(threading, "Thread");
    PyObject *shutdown = PyObject_GetAttrString(threading, "_shutdown");
    PyObject *none = PyTuple_New(0);
    PyObject *words = class == NULL || shutdown == NULL || none == NULL
                          ? NULL
                          : Py_BuildValue("{s:O,s:O}", "target", shutdown, "daemon", Py_True);
    PyObject *thread = words == NULL ? NULL : PyObject_Call(class, none, words);
    PyObject *started = thread == NULL ? NULL : PyObject_CallMethod(thread, "start", NULL);

    if (started == NULL)
        Py_CLEAR(thread);
    Py_XDECREF(started);
    Py_XDECREF(words);
    Py_XDECREF(none);
    Py_XDECREF(shutdown);
    Py_XDECREF(class);
    return thread;
}

static void join_threads(struct cc_python *python)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading == NULL ? NULL : start_shutdown(threading);
    PyObject *joined =
        thread == NULL ? NULL : PyObject_CallMethod(thread, "join", "d", END_SECONDS);

    if (joined == NULL)
        cc_python_log_exception(python, "cannot wait for the app's threads");
    Py_XDECREF(joined);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
}

bool cc_threads_end(struct cc_python *python)
{
    struct cc_buf names = {0};
    bool ended = list_threads(&names, false) == 0;

    if (!ended) {
        join_threads(python);
        cc_buf_clear(&names);
        ended = list_threads(&names, false) == 0;
    }
    if (!ended)
        python->context.log(CC_APP_LOG_WARN,
                            "these threads of the app did not end within %.0f seconds and are left "
                            "behind: %s",
                            END_SECONDS, cc_buf_text(&names));
    cc_buf_clear(&names);
    return ended;
}
