/* See failure.h. */
#include "python/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_URI 200

/* "GET /path", with what a client could use to forge log lines escaped. */
static void request_text(const struct cc_call *call, char *text, size_t size)
{
    struct cc_span method = call->request->method, uri = call->request->uri;
    size_t at = 0;

    for (size_t i = 0; i < method.len + 1 + uri.len && i < LONGEST_URI; i++) {
        char c = ' ';
        if (i != method.len)
            c = i < method.len ? method.at[i] : uri.at[i - method.len - 1];
        if (at + 5 > size)
            break;
        if ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7f)
            at += (size_t)snprintf(text + at, size - at, "\\x%02x", (unsigned char)c);
        else
            text[at++] = c;
    }
    text[at] = '\0';
}

static void normalized(PyObject **type, PyObject **value, PyObject **trace)
{
    PyErr_Fetch(type, value, trace);
    PyErr_NormalizeException(type, value, trace);
    if (*trace != NULL && *value != NULL)
        PyException_SetTraceback(*value, *trace);
}

/* The traceback as one str; NULL with an exception when it cannot be made. */
static PyObject *traceback_text(const struct cc_python *python, PyObject *value, PyObject *trace)
{
    if (python->format_exception == NULL)
        return PyUnicode_FromFormat("%S: %S\n", Py_TYPE(value), value);
    PyObject *lines = PyObject_CallFunctionObjArgs(python->format_exception, Py_TYPE(value), value,
                                                   trace == NULL ? Py_None : trace, NULL);
    PyObject *none = PyUnicode_FromString("");
    PyObject *text = lines == NULL || none == NULL ? NULL : PyUnicode_Join(none, lines);
    Py_XDECREF(none);
    Py_XDECREF(lines);
    return text;
}

/* To sys.stderr, where the app may have put something of its own; to descriptor 2 when that
 * fails. */
static void write_text(PyObject *text)
{
    PyObject *file = PySys_GetObject("stderr"); /* borrowed */

    if (file != NULL && file != Py_None) {
        Py_INCREF(file);
        PyObject *done = PyObject_CallMethod(file, "write", "O", text);
        PyObject *flushed = done == NULL ? NULL : PyObject_CallMethod(file, "flush", NULL);
        Py_DECREF(file);
        Py_XDECREF(done);
        Py_XDECREF(flushed);
        if (flushed != NULL)
            return;
        PyErr_Clear();
    }
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    if (bytes == NULL) {
        PyErr_Clear();
        return;
    }
    ssize_t written =
        write(STDERR_FILENO, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    (void)written; /* there is nowhere else to say it */
    Py_DECREF(bytes);
}

static void log_with_line(const struct cc_python *python, const char *request, const char *what)
{
    PyObject *type, *value, *trace;
    char when[32];
    time_t now = time(NULL);
    struct tm tm;

    normalized(&type, &value, &trace);
    if (value == NULL)
        return;
    PyObject *traceback = traceback_text(python, value, trace);
    if (traceback == NULL) {
        PyErr_Clear();
        traceback = PyUnicode_FromFormat("%s (its traceback cannot be formatted)\n",
                                         ((PyTypeObject *)type)->tp_name);
    }
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
    PyObject *text =
        traceback == NULL
            ? NULL
            : PyUnicode_FromFormat("[%s] [%d] error: %s%s%s\n%U", when, (int)getpid(), request,
                                   *request == '\0' ? "" : ": ", what, traceback);
    if (text != NULL)
        write_text(text);
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(traceback);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

void cc_python_log_exception(const struct cc_python *python, const char *what)
{
    log_with_line(python, "", what);
}

void cc_python_log_failure(const struct cc_call *call, const char *what)
{
    char request[512];

    request_text(call, request, sizeof request);
    log_with_line(call->thread->python, request, what);
}

void cc_python_log_request(const struct cc_call *call, enum cc_app_log level, const char *format,
                           ...)
{
    char request[512], text[1024];
    va_list arguments;

    request_text(call, request, sizeof request);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    call->thread->python->context.log(level, "%s: %s", request, text);
}

void cc_python_exception_text(struct cc_err *err, const char *prefix)
{
    PyObject *type, *value, *trace;

    normalized(&type, &value, &trace);
    PyObject *text = value == NULL ? NULL : PyObject_Str(value);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    cc_fail(err, "%s%s%s%s", prefix, type == NULL ? "error" : ((PyTypeObject *)type)->tp_name,
            utf8 == NULL || *utf8 == '\0' ? "" : ": ", utf8 == NULL ? "" : utf8);
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}
