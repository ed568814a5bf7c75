/* See nearest.h. */
#include "python/nearest.h"

#include <stdbool.h>
#include <string.h>

#define MOST_LISTED 8

/* A function of the module's own, or an object that can be called (Flask's and Django's apps are
 * such). Imported functions and all classes are no apps. */
static bool may_be_app(PyObject *module, PyObject *value)
{
    if (!PyCallable_Check(value) || PyType_Check(value) || PyModule_Check(value))
        return false;
    if (!PyFunction_Check(value))
        return !PyCFunction_Check(value);
    PyObject *home = PyObject_GetAttrString(value, "__module__");
    PyObject *name = PyModule_GetNameObject(module);
    bool own = home != NULL && name != NULL && PyObject_RichCompareBool(home, name, Py_EQ) == 1;

    PyErr_Clear();
    Py_XDECREF(home);
    Py_XDECREF(name);
    return own;
}

/* A new list of str; NULL with an exception. */
static PyObject *find_candidates(PyObject *module)
{
    PyObject *names = PyList_New(0), *key, *value;
    Py_ssize_t position = 0;

    while (names != NULL && PyDict_Next(PyModule_GetDict(module), &position, &key, &value)) {
        if (!PyUnicode_Check(key) || PyUnicode_GET_LENGTH(key) == 0 ||
            PyUnicode_READ_CHAR(key, 0) == '_' || !may_be_app(module, value))
            continue;
        if (PyList_Append(names, key) < 0)
            Py_CLEAR(names);
    }
    return names;
}

static bool has_name(PyObject *names, const char *name)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names); i++)
        if (PyUnicode_CompareWithASCIIString(PyList_GET_ITEM(names, i), name) == 0)
            return true;
    return false;
}

/* The usual names first, then the most similar one. A new reference, or NULL. */
static PyObject *pick(PyObject *names, const char *wanted)
{
    static const char *const usual[] = {"application", "app", "wsgi", "wsgi_app"};
    PyObject *best = NULL;

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(usual[i], wanted) != 0 && has_name(names, usual[i]))
            return PyUnicode_FromString(usual[i]);
    if (has_name(names, "create_app") || has_name(names, "make_app"))
        return PyUnicode_FromString(has_name(names, "create_app") ? "create_app()" : "make_app()");
    PyObject *difflib = PyImport_ImportModule("difflib");
    PyObject *found = difflib == NULL ? NULL
                                      : PyObject_CallMethod(difflib, "get_close_matches", "sOid",
                                                            wanted, names, 1, 0.0);
    if (found != NULL && PyList_Check(found) && PyList_GET_SIZE(found) > 0) {
        best = PyList_GET_ITEM(found, 0);
        Py_INCREF(best);
    }
    Py_XDECREF(found);
    Py_XDECREF(difflib);
    return best;
}

static const char *utf8(PyObject *text)
{
    const char *bytes = text == NULL ? NULL : PyUnicode_AsUTF8(text);

    return bytes == NULL ? "?" : bytes;
}

void cc_nearest_describe(PyObject *module, const char *wanted, struct cc_buf *text)
{
    PyObject *names = find_candidates(module);
    Py_ssize_t count = names == NULL ? 0 : PyList_GET_SIZE(names);

    if (count == 0) {
        cc_buf_printf(text, "there is no callable in it that could be an app");
    } else {
        PyObject *best = pick(names, wanted);
        cc_buf_printf(text, "did you mean \"%s\"? Callables in it:", utf8(best));
        for (Py_ssize_t i = 0; i < count && i < MOST_LISTED; i++)
            cc_buf_printf(text, "%s %s", i == 0 ? "" : ",", utf8(PyList_GET_ITEM(names, i)));
        if (count > MOST_LISTED)
            cc_buf_printf(text, " and %zd more", count - MOST_LISTED);
        Py_XDECREF(best);
    }
    PyErr_Clear();
    Py_XDECREF(names);
}
