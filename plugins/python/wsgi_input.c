/* See wsgi_input.h. */
#include "python/wsgi_input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"

#define LINE_BLOCK ((size_t)4096)
#define POLL_US    100

struct cc_input {
    PyObject_HEAD struct cc_body *body; /* NULL: the request is over */
    bool reading;                       /* a thread reads the file without the GIL */
};

static struct cc_body *body_of(const struct cc_input *self)
{
    if (CC_UNLIKELY(self->body == NULL)) {
        PyErr_SetString(PyExc_ValueError, "wsgi.input was read after its request was over");
        return NULL;
    }
    if (CC_UNLIKELY(self->reading)) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is reading this wsgi.input");
        return NULL;
    }
    return self->body;
}

/* Up to len bytes, fewer only at the body's end; -1 with an exception. A file may be on a slow
 * disk: the GIL is released for it. */
static Py_ssize_t read_bytes(struct cc_input *self, char *to, size_t len)
{
    struct cc_body *body = self->body;
    size_t have = 0;
    ssize_t got = 0;

    if (body->fd < 0)
        return (Py_ssize_t)cc_body_read(body, to, len);
    self->reading = true;
    PyThreadState *state = PyEval_SaveThread();
    while (have < len && (got = cc_body_read(body, to + have, len - have)) > 0)
        have += (size_t)got;
    int saved = errno;
    PyEval_RestoreThread(state);
    self->reading = false;
    if (got >= 0)
        return (Py_ssize_t)have;
    errno = saved;
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
}

static size_t bytes_left(const struct cc_body *body)
{
    return body->position < body->length ? (size_t)(body->length - body->position) : 0;
}

/* A size argument: none, None or negative means all. False with an exception. */
static bool take_size(PyObject *const *arguments, Py_ssize_t count, Py_ssize_t *size)
{
    *size = -1;
    if (count > 1) {
        PyErr_Format(PyExc_TypeError, "takes at most one argument (%zd given)", count);
        return false;
    }
    if (count == 0 || arguments[0] == Py_None)
        return true;
    *size = PyNumber_AsSsize_t(arguments[0], PyExc_OverflowError);
    return *size != -1 || !PyErr_Occurred();
}

static PyObject *take_bytes(struct cc_input *self, size_t len)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)len);

    if (bytes == NULL || len == 0)
        return bytes;
    Py_ssize_t got = read_bytes(self, PyBytes_AS_STRING(bytes), len);
    if (got < 0)
        Py_CLEAR(bytes);
    else if ((size_t)got < len)
        _PyBytes_Resize(&bytes, got);
    return bytes;
}

static PyObject *input_read(PyObject *object, PyObject *const *arguments, Py_ssize_t count)
{
    struct cc_input *self = (struct cc_input *)object;
    Py_ssize_t size;

    if (!take_size(arguments, count, &size))
        return NULL;
    struct cc_body *body = body_of(self);
    if (body == NULL)
        return NULL;
    size_t left = bytes_left(body);
    return take_bytes(self, size < 0 || (size_t)size > left ? left : (size_t)size);
}

/* Length of the next line with its newline, at most limit. -1 with an exception. The position stays
 * where it is. */
static Py_ssize_t line_length(struct cc_input *self, size_t limit)
{
    struct cc_body *body = self->body;
    int64_t start = body->position;
    char block[LINE_BLOCK];
    size_t seen = 0;

    if (body->fd < 0) {
        const char *at = body->memory.at + start;
        const char *newline = limit == 0 ? NULL : memchr(at, '\n', limit);
        return (Py_ssize_t)(newline == NULL ? limit : (size_t)(newline - at) + 1);
    }
    while (seen < limit) {
        size_t want = limit - seen < sizeof block ? limit - seen : sizeof block;
        Py_ssize_t got = read_bytes(self, block, want);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        const char *newline = memchr(block, '\n', (size_t)got);
        seen += newline == NULL ? (size_t)got : (size_t)(newline - block) + 1;
        if (newline != NULL)
            break;
    }
    body->position = start;
    return (Py_ssize_t)seen;
}

static PyObject *next_line(struct cc_input *self, Py_ssize_t size)
{
    struct cc_body *body = body_of(self);

    if (body == NULL)
        return NULL;
    size_t left = bytes_left(body);
    Py_ssize_t len = line_length(self, size < 0 || (size_t)size > left ? left : (size_t)size);
    return len < 0 ? NULL : take_bytes(self, (size_t)len);
}

static PyObject *input_readline(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    Py_ssize_t size;

    if (!take_size(arguments, count, &size))
        return NULL;
    return next_line((struct cc_input *)self, size);
}

static PyObject *input_readlines(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    Py_ssize_t hint, total = 0;

    if (!take_size(arguments, count, &hint))
        return NULL;
    PyObject *lines = PyList_New(0);
    while (lines != NULL && (hint <= 0 || total < hint)) {
        PyObject *line = next_line((struct cc_input *)self, -1);
        Py_ssize_t len = line == NULL ? -1 : PyBytes_GET_SIZE(line);
        if (len < 0 || (len > 0 && PyList_Append(lines, line) < 0))
            Py_CLEAR(lines);
        Py_XDECREF(line);
        if (len <= 0)
            break;
        total += len;
    }
    return lines;
}

static PyObject *input_next(PyObject *self)
{
    PyObject *line = next_line((struct cc_input *)self, -1);

    if (line != NULL && PyBytes_GET_SIZE(line) == 0)
        Py_CLEAR(line); /* no exception set: the end of the iteration */
    return line;
}

static PyObject *input_readinto(PyObject *object, PyObject *buffer)
{
    struct cc_input *self = (struct cc_input *)object;
    Py_buffer view;

    if (body_of(self) == NULL || PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE) < 0)
        return NULL;
    Py_ssize_t got = -1;
    if (body_of(self) != NULL) /* the buffer's own code may have done anything */
        got = view.len == 0 ? 0 : read_bytes(self, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    return got < 0 ? NULL : PyLong_FromSsize_t(got);
}

static PyObject *input_yes(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    Py_RETURN_TRUE;
}

static PyObject *input_no(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    Py_RETURN_FALSE;
}

/* The server closes it, not the app (PEP 3333 gives it no close()); io's wrappers call these. */
static PyObject *input_nothing(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    Py_RETURN_NONE;
}

static PyObject *input_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((struct cc_input *)self)->body == NULL);
}

static void input_dealloc(PyObject *self)
{
    PyObject_Free(self);
}

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL

static PyMethodDef input_methods[] = {
    {"read", FAST(input_read), PyDoc_STR("read(size=-1) -> bytes")},
    {"read1", FAST(input_read), PyDoc_STR("read1(size=-1) -> bytes")},
    {"readline", FAST(input_readline), PyDoc_STR("readline(size=-1) -> bytes")},
    {"readlines", FAST(input_readlines), PyDoc_STR("readlines(hint=-1) -> list of bytes")},
    {"readinto", input_readinto, METH_O, PyDoc_STR("readinto(buffer) -> number of bytes")},
    {"readable", input_yes, METH_NOARGS, NULL},
    {"writable", input_no, METH_NOARGS, NULL},
    {"seekable", input_no, METH_NOARGS, NULL},
    {"flush", input_nothing, METH_NOARGS, NULL},
    {"close", input_nothing, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef input_members[] = {
    {"closed", input_closed, NULL, PyDoc_STR("True once the request is over"), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject input_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ccontainer.input",
    .tp_doc = PyDoc_STR("The body of a request (wsgi.input of PEP 3333)."),
    .tp_basicsize = sizeof(struct cc_input),
    .tp_dealloc = input_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = input_next,
    .tp_methods = input_methods,
    .tp_getset = input_members,
};

bool cc_input_ready(void)
{
    return PyType_Ready(&input_type) == 0;
}

PyObject *cc_input_begin(struct cc_python_thread *thread, struct cc_body *body)
{
    if (CC_UNLIKELY(thread->input == NULL)) {
        thread->input = PyObject_New(struct cc_input, &input_type);
        if (thread->input == NULL)
            return NULL;
        thread->input->reading = false;
    }
    thread->input->body = body;
    return (PyObject *)thread->input;
}

void cc_input_detach(struct cc_python_thread *thread)
{
    struct cc_input *self = thread->input;

    if (self == NULL)
        return;
    while (CC_UNLIKELY(self->reading)) {
        PyThreadState *state = PyEval_SaveThread();
        usleep(POLL_US);
        PyEval_RestoreThread(state);
    }
    self->body = NULL;
    if (CC_UNLIKELY(Py_REFCNT(self) > 1))
        Py_CLEAR(thread->input);
}
