/* See head.h. The spans point into the app's own str objects, which are held until the head has
 * been written: nothing is copied. */
#include "python/head.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/attributes.h"
#include "python/header_check.h"

#define LONGEST_SEEN_NAME 64

/* A new reference to the text as a true str (the app's own subclass could run its code when it is
 * freed) and its bytes, which must be latin-1 (PEP 3333, "Unicode Issues"); NULL with an exception.
 */
static PyObject *latin1(PyObject *text, const char *what, struct cc_span *span)
{
    if (CC_UNLIKELY(!PyUnicode_Check(text))) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %.200s: %.200R", what,
                     Py_TYPE(text)->tp_name, text);
        return NULL;
    }
#if PY_VERSION_HEX < 0x030c0000
    if (PyUnicode_READY(text) < 0)
        return NULL;
#endif
    if (CC_UNLIKELY(PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND)) {
        PyErr_Format(PyExc_ValueError, "%s has characters beyond latin-1: %.200R", what, text);
        return NULL;
    }
    PyObject *exact = PyUnicode_FromObject(text);
    if (exact != NULL)
        *span = (struct cc_span){(const char *)PyUnicode_1BYTE_DATA(exact),
                                 (size_t)PyUnicode_GET_LENGTH(exact)};
    return exact;
}

static bool set_status(struct cc_head *head, PyObject *status)
{
    struct cc_span text;
    int number;

    head->held_status = latin1(status, "the status", &text);
    if (head->held_status == NULL)
        return false;
    if (!cc_header_parse_status(text, &number, &head->reason)) {
        PyErr_Format(PyExc_ValueError,
                     "the status must be a number from 200 to 999, a blank and a reason such as "
                     "'200 OK', not %.200R",
                     status);
        return false;
    }
    head->status = number;
    return true;
}

/* Refuses a name that the server must not send; says whether it is Content-Length. */
static bool check_name(PyObject *name, struct cc_span span, bool *is_content_length)
{
    enum cc_app_header kind = cc_app_header_kind(span);

    *is_content_length = kind == CC_APP_HEADER_LENGTH;
    if (kind == CC_APP_HEADER_HOP_BY_HOP)
        PyErr_Format(PyExc_ValueError,
                     "%R is a hop-by-hop header, which only the server may send (PEP 3333)", name);
    else if (kind == CC_APP_HEADER_NO_TOKEN)
        PyErr_Format(PyExc_ValueError, "%.200R is not a header name", name);
    return kind == CC_APP_HEADER_PLAIN || kind == CC_APP_HEADER_LENGTH;
}

/* check_name() of an object that was seen before costs a look at its address. */
static bool known_name(struct cc_python *python, PyObject *name, struct cc_span span,
                       bool *is_content_length)
{
    struct cc_seen_name *seen =
        &python->seen_names[((uintptr_t)name >> 4 ^ (uintptr_t)name >> 10) % CC_SEEN_NAMES];

    if (CC_LIKELY(seen->name == name)) {
        *is_content_length = seen->is_content_length;
        return true;
    }
    if (!check_name(name, span, is_content_length))
        return false;
    if (span.len <= LONGEST_SEEN_NAME) {
        Py_INCREF(name);
        Py_XSETREF(seen->name, name);
        seen->is_content_length = *is_content_length;
    }
    return true;
}

static bool set_length(struct cc_head *head, PyObject *value, struct cc_span text)
{
    uint64_t number;

    if (!cc_span_to_number(cc_span_trim(text), INT64_MAX, &number)) {
        PyErr_Format(PyExc_ValueError, "Content-Length must be a number of bytes, not %.200R",
                     value);
        return false;
    }
    if (head->length >= 0 && head->length != (int64_t)number) {
        PyErr_Format(PyExc_ValueError, "Content-Length is given twice: %lld and %lld",
                     (long long)head->length, (long long)number);
        return false;
    }
    head->length = (int64_t)number;
    return true;
}

static void grow(struct cc_head *head, size_t count)
{
    if (count <= head->cap)
        return;
    head->cap = count < 16 ? 16 : count;
    head->pairs = cc_realloc(head->pairs, head->cap * sizeof *head->pairs);
    head->held = cc_realloc(head->held, 2 * head->cap * sizeof *head->held);
}

static bool check_value(PyObject *name, PyObject *value, struct cc_span text)
{
    if (CC_LIKELY(cc_header_value_ok(text)))
        return true;
    PyErr_Format(PyExc_ValueError,
                 "the header %R has a control character (a line's end, for one) in its value: "
                 "%.200R",
                 name, value);
    return false;
}

/* Takes both references when it succeeds and *kept is true. */
static bool keep_pair(struct cc_python *python, struct cc_head *head, PyObject *const held[2],
                      struct cc_pair pair, bool *kept)
{
    bool is_content_length;

    *kept = false;
    if (!known_name(python, held[0], pair.name, &is_content_length) ||
        !check_value(held[0], held[1], pair.value))
        return false;
    if (is_content_length) {
        bool again = head->length >= 0;
        if (!set_length(head, held[1], pair.value))
            return false;
        if (again) /* the same number once more: once is enough on the wire */
            return true;
        pair.value = cc_span_trim(pair.value);
    }
    head->held[2 * head->count] = held[0];
    head->held[2 * head->count + 1] = held[1];
    head->pairs[head->count++] = pair;
    return *kept = true;
}

static bool add_pair(struct cc_python *python, struct cc_head *head, PyObject *item)
{
    struct cc_pair pair;
    PyObject *held[2];
    bool kept = false, ok = false;

    if (CC_UNLIKELY(!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2)) {
        PyErr_Format(PyExc_TypeError, "a header must be a tuple (name, value), not %.200R", item);
        return false;
    }
    held[0] = latin1(PyTuple_GET_ITEM(item, 0), "a header's name", &pair.name);
    if (held[0] == NULL)
        return false;
    held[1] = latin1(PyTuple_GET_ITEM(item, 1), "a header's value", &pair.value);
    if (held[1] != NULL)
        ok = keep_pair(python, head, held, pair, &kept);
    if (!kept) {
        Py_DECREF(held[0]);
        Py_XDECREF(held[1]);
    }
    return ok;
}

bool cc_head_set(struct cc_python *python, struct cc_head *head, PyObject *status,
                 PyObject *headers)
{
    cc_head_reset(head);
    if (CC_UNLIKELY(!PyList_Check(headers))) {
        PyErr_Format(PyExc_TypeError, "the headers must be a list of tuples, not %.200s: %.200R",
                     Py_TYPE(headers)->tp_name, headers);
        return false;
    }
    size_t count = (size_t)PyList_GET_SIZE(headers);
    grow(head, count);
    bool ok = set_status(head, status);
    /* Nothing in the loop runs the app's code before it fails, so the list stays as it is. */
    for (size_t i = 0; ok && i < count; i++)
        ok = add_pair(python, head, PyList_GET_ITEM(headers, (Py_ssize_t)i));
    if (!ok)
        cc_head_reset(head);
    return ok;
}

void cc_head_reset(struct cc_head *head)
{
    size_t count = head->count;

    head->status = 0;
    head->length = -1;
    head->count = 0;
    for (size_t i = 0; i < 2 * count; i++)
        Py_DECREF(head->held[i]);
    Py_CLEAR(head->held_status);
}

void cc_head_clear(struct cc_head *head)
{
    cc_head_reset(head);
    free(head->pairs);
    free(head->held);
    *head = (struct cc_head){.length = -1};
}
