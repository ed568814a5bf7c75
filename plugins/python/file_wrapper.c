/* See file_wrapper.h. */
#include "python/file_wrapper.h"

#include <string.h>
#include <sys/stat.h>

#include "python/response.h"

#define BLOCK_SIZE 65536

struct wrapper {
    PyObject_HEAD PyObject *file;
    Py_ssize_t block_size;
};

static PyObject *wrapper_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    static char *words[] = {(char *)"filelike", (char *)"blksize", NULL};
    PyObject *file;
    Py_ssize_t block_size = BLOCK_SIZE;

    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O|n:file_wrapper", words, &file,
                                     &block_size))
        return NULL;
    struct wrapper *self = (struct wrapper *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    Py_INCREF(file);
    self->file = file;
    self->block_size = block_size > 0 ? block_size : BLOCK_SIZE;
    return (PyObject *)self;
}

static int wrapper_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct wrapper *)self)->file);
    return 0;
}

static int wrapper_clear(PyObject *self)
{
    Py_CLEAR(((struct wrapper *)self)->file);
    return 0;
}

static void wrapper_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    wrapper_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *wrapper_next(PyObject *object)
{
    struct wrapper *self = (struct wrapper *)object;
    PyObject *block = PyObject_CallMethod(self->file, "read", "n", self->block_size);

    if (block != NULL && PyObject_Size(block) == 0)
        Py_CLEAR(block);
    else if (block != NULL && PyErr_Occurred())
        Py_CLEAR(block); /* something without a length */
    return block;
}

static PyObject *wrapper_close(PyObject *object, PyObject *unused)
{
    PyObject *file = ((struct wrapper *)object)->file;
    (void)unused;

    if (!PyObject_HasAttrString(file, "close"))
        Py_RETURN_NONE;
    return PyObject_CallMethod(file, "close", NULL);
}

static PyObject *wrapper_file(PyObject *object, void *unused)
{
    PyObject *file = ((struct wrapper *)object)->file;
    (void)unused;

    Py_INCREF(file);
    return file;
}

static PyMethodDef wrapper_methods[] = {
    {"close", wrapper_close, METH_NOARGS, PyDoc_STR("Closes the file.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef wrapper_members[] = {
    {"filelike", wrapper_file, NULL, PyDoc_STR("The file."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject wrapper_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ccontainer.file_wrapper",
    .tp_doc = PyDoc_STR("file_wrapper(filelike, blksize=65536): sends a file as a response."),
    .tp_basicsize = sizeof(struct wrapper),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = wrapper_new,
    .tp_dealloc = wrapper_dealloc,
    .tp_traverse = wrapper_traverse,
    .tp_clear = wrapper_clear,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = wrapper_next,
    .tp_methods = wrapper_methods,
    .tp_getset = wrapper_members,
};

PyObject *cc_file_wrapper_class(void)
{
    return PyType_Ready(&wrapper_type) == 0 ? (PyObject *)&wrapper_type : NULL;
}

/* True when the object's type is named so in its module: io's own classes, not others that hand
 * out the descriptor of a file which they decode (gzip.GzipFile does). */
static bool is_exactly(PyObject *object, const char *type_name)
{
    return strcmp(Py_TYPE(object)->tp_name, type_name) == 0;
}

/* A new reference to the file below the wrappers that change nothing: tempfile's and the buffer.
 * NULL: not a plain file (no exception). */
static PyObject *plain_file(PyObject *file)
{
    PyObject *inner = NULL;

    if (is_exactly(file, "_io.FileIO")) {
        Py_INCREF(file);
        return file;
    }
    if (is_exactly(file, "_io.BufferedReader") || is_exactly(file, "_io.BufferedRandom"))
        inner = PyObject_GetAttrString(file, "raw");
    else if (is_exactly(file, "_TemporaryFileWrapper"))
        inner = PyObject_GetAttrString(file, "file");
    if (inner == NULL) {
        PyErr_Clear();
        return NULL;
    }
    PyObject *plain = plain_file(inner);
    Py_DECREF(inner);
    return plain;
}

static int64_t number_from(PyObject *file, const char *method)
{
    PyObject *result = PyObject_CallMethod(file, method, NULL);
    int64_t number = result == NULL ? -1 : (int64_t)PyLong_AsLongLong(result);

    Py_XDECREF(result);
    PyErr_Clear(); /* closed, or not seekable: then it is iterated, which tells the app why */
    return number;
}

/* The descriptor and what is left of a regular file from where the app has read to. */
static bool find_rest(PyObject *file, int *fd, int64_t *offset, int64_t *len)
{
    struct stat info;
    PyObject *plain = plain_file(file);

    if (plain == NULL)
        return false;
    *fd = (int)number_from(plain, "fileno");
    Py_DECREF(plain);
    *offset = number_from(file, "tell");
    if (*fd < 0 || *offset < 0 || fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *len = info.st_size > *offset ? (int64_t)info.st_size - *offset : 0;
    return true;
}

enum cc_wrapped cc_file_wrapper_send(struct cc_call *call, PyObject *result)
{
    int64_t offset, len;
    int fd;

    if (Py_TYPE(result) != &wrapper_type || call->sending ||
        !find_rest(((struct wrapper *)result)->file, &fd, &offset, &len))
        return CC_WRAPPED_NO;
    if (!call->head_sent && !cc_response_head(call, len))
        return CC_WRAPPED_FAILED;
    len = cc_response_allowance(call, len);
    if (len > 0 && !call->bodiless && !call->gone)
        cc_response_file(call, fd, offset, len);
    return CC_WRAPPED_SENT;
}
