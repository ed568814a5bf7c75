/* See environ.h. A copy of a prepared dict, then the request's own variables. */
#include "python/environ.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attributes.h"
#include "python/names.h"

struct cc_environ {
    PyObject *template; /* copied for each request, never shown to the app */
    struct cc_names *names;
    PyObject *input_key, *scheme_key, *length_key; /* interned */
    PyObject *http, *https;
};

/* What decides wsgi.url_scheme: the front server's word for this container (UWSGI_SCHEME), then
 * HTTPS=on, then nginx's REQUEST_SCHEME. */
struct scheme_hints {
    struct cc_span uwsgi_scheme, request_scheme;
    bool https;
};

/* Steals value. */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    bool ok = value != NULL && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

static bool put_stderr(PyObject *dict)
{
    PyObject *file = PySys_GetObject("stderr"); /* borrowed; None when descriptor 2 is closed */

    if (file == NULL || file == Py_None) {
        PyObject *io = PyImport_ImportModule("io");
        bool ok = io != NULL &&
                  put(dict, "wsgi.errors", PyObject_CallMethod(io, "open", "ss", "/dev/null", "w"));
        Py_XDECREF(io);
        return ok;
    }
    Py_INCREF(file);
    return put(dict, "wsgi.errors", file);
}

static bool put_wsgi(PyObject *dict, const struct cc_app_context *context, PyObject *file_wrapper)
{
    Py_XINCREF(file_wrapper);
    return put(dict, "wsgi.version", Py_BuildValue("(ii)", 1, 0)) &&
           put(dict, "wsgi.multithread", PyBool_FromLong(context->threads > 1)) &&
           put(dict, "wsgi.multiprocess", PyBool_FromLong(context->processes > 1)) &&
           put(dict, "wsgi.run_once", PyBool_FromLong(0)) &&
           put(dict, "wsgi.input_terminated", PyBool_FromLong(1)) && put_stderr(dict) &&
           (file_wrapper == NULL || put(dict, "wsgi.file_wrapper", file_wrapper));
}

/* PEP 3333, "environ Variables": these are there whatever the peer sent, and some never empty. */
static bool put_defaults(PyObject *dict)
{
    static const char *const defaults[][2] = {
        {"REQUEST_METHOD", "GET"},
        {"SCRIPT_NAME", ""},
        {"PATH_INFO", ""},
        {"QUERY_STRING", ""},
        {"SERVER_NAME", "localhost"},
        {"SERVER_PORT", "80"},
        {"wsgi.url_scheme", ""},
        {"SERVER_PROTOCOL", "HTTP/1.0"},
    };
    bool ok = put(dict, "wsgi.input", PyUnicode_FromString(""));

    for (size_t i = 0; ok && i < sizeof defaults / sizeof defaults[0]; i++)
        ok = put(dict, defaults[i][0], PyUnicode_InternFromString(defaults[i][1]));
    return ok;
}

/* A dict keeps its room when entries go, and a copy has the room of its original: so the copies can
 * take a usual request's variables without growing. */
static bool make_room(PyObject *dict)
{
    static const char spare[] = "abcdefg";
    char name[] = "?";
    bool ok = true;

    for (size_t i = 0; ok && spare[i] != '\0'; i++) {
        name[0] = spare[i];
        ok = put(dict, name, PyBool_FromLong(0));
    }
    for (size_t i = 0; ok && spare[i] != '\0'; i++) {
        name[0] = spare[i];
        ok = PyDict_DelItemString(dict, name) == 0;
    }
    return ok;
}

struct cc_environ *cc_environ_new(const struct cc_app_context *context, PyObject *file_wrapper)
{
    struct cc_environ *environ = cc_alloc_zeroed(1, sizeof *environ);

    environ->template = PyDict_New();
    environ->input_key = PyUnicode_InternFromString("wsgi.input");
    environ->scheme_key = PyUnicode_InternFromString("wsgi.url_scheme");
    environ->length_key = PyUnicode_InternFromString("CONTENT_LENGTH");
    environ->http = PyUnicode_InternFromString("http");
    environ->https = PyUnicode_InternFromString("https");
    environ->names = cc_names_new();
    if (environ->template == NULL || environ->input_key == NULL || environ->scheme_key == NULL ||
        environ->length_key == NULL || environ->http == NULL || environ->https == NULL ||
        environ->names == NULL || !put_wsgi(environ->template, context, file_wrapper) ||
        !put_defaults(environ->template) || !make_room(environ->template)) {
        cc_environ_free(environ);
        return NULL;
    }
    return environ;
}

void cc_environ_free(struct cc_environ *environ)
{
    if (environ == NULL)
        return;
    Py_XDECREF(environ->template);
    Py_XDECREF(environ->input_key);
    Py_XDECREF(environ->scheme_key);
    Py_XDECREF(environ->length_key);
    Py_XDECREF(environ->http);
    Py_XDECREF(environ->https);
    cc_names_free(environ->names);
    free(environ);
}

static bool is_on(struct cc_span value)
{
    return cc_span_equal_nocase(value, CC_SPAN("on")) || cc_span_equal(value, CC_SPAN("1")) ||
           cc_span_equal_nocase(value, CC_SPAN("https"));
}

/* False: the variable keeps its default. */
static bool note_role(struct scheme_hints *hints, const struct cc_name *name, struct cc_span value)
{
    switch ((enum cc_name_role)name->role) {
    case CC_NAME_PLAIN:
        return true;
    case CC_NAME_UWSGI_SCHEME:
        hints->uwsgi_scheme = value;
        return true;
    case CC_NAME_HTTPS:
        hints->https = is_on(value);
        return true;
    case CC_NAME_REQUEST_SCHEME:
        hints->request_scheme = value;
        return true;
    case CC_NAME_NEVER_EMPTY:
        return value.len > 0;
    }
    return true;
}

static bool add_unknown(PyObject *dict, const struct cc_pair *pair)
{
    PyObject *key = PyUnicode_DecodeLatin1(pair->name.at, (Py_ssize_t)pair->name.len, NULL);
    PyObject *value = key == NULL ? NULL : cc_name_value(NULL, pair->value);
    bool ok = value != NULL && PyDict_SetItem(dict, key, value) == 0;

    Py_XDECREF(value);
    Py_XDECREF(key);
    return ok;
}

/* What PEP 3333 keeps for the server: a peer's packet does not replace it. */
static bool is_reserved(struct cc_span name)
{
    return name.len >= 5 && name.at[0] == 'w' && memcmp(name.at, "wsgi.", 5) == 0;
}

static bool add_variable(struct cc_environ *environ, PyObject *dict, const struct cc_pair *pair,
                         struct scheme_hints *hints)
{
    if (CC_UNLIKELY(is_reserved(pair->name)))
        return true;
    struct cc_name *name = cc_names_find(environ->names, pair->name);
    if (CC_UNLIKELY(name == NULL))
        return !PyErr_Occurred() && add_unknown(dict, pair);
    if (CC_UNLIKELY(name->role != CC_NAME_PLAIN) && !note_role(hints, name, pair->value))
        return true;
    PyObject *value = cc_name_value(name, pair->value);
    if (value == NULL)
        return false;
    bool ok = PyDict_SetItem(dict, name->key, value) == 0;
    Py_DECREF(value);
    return ok;
}

static bool add_scheme(const struct cc_environ *environ, PyObject *dict,
                       const struct scheme_hints *hints)
{
    struct cc_span text = hints->uwsgi_scheme;

    if (text.len == 0 && !hints->https)
        text = hints->request_scheme;
    if (hints->uwsgi_scheme.len == 0 && hints->https)
        return PyDict_SetItem(dict, environ->scheme_key, environ->https) == 0;
    if (text.len == 0 || cc_span_equal(text, CC_SPAN("http")))
        return PyDict_SetItem(dict, environ->scheme_key, environ->http) == 0;
    PyObject *value = cc_name_value(NULL, text);
    bool ok = value != NULL && PyDict_SetItem(dict, environ->scheme_key, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* A body without an announced length has one by now, and CGI wants it told (RFC 3875, 4.1.2): apps
 * that go by CONTENT_LENGTH alone would take the body for empty. */
static bool add_length(const struct cc_environ *environ, PyObject *dict, int64_t length)
{
    PyObject *value = PyUnicode_FromFormat("%lld", (long long)length);
    bool ok = value != NULL && PyDict_SetItem(dict, environ->length_key, value) == 0;

    Py_XDECREF(value);
    return ok;
}

PyObject *cc_environ_make(struct cc_environ *environ, const struct cc_request *request,
                          PyObject *input)
{
    struct scheme_hints hints = {{NULL, 0}, {NULL, 0}, false};
    PyObject *dict = PyDict_Copy(environ->template);

    if (dict == NULL)
        return NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < request->n_vars; i++)
        ok = add_variable(environ, dict, &request->vars[i], &hints);
    ok = ok && add_scheme(environ, dict, &hints) &&
         (!request->body.chunked || add_length(environ, dict, request->body.length)) &&
         PyDict_SetItem(dict, environ->input_key, input) == 0;
    if (!ok)
        Py_CLEAR(dict);
    return dict;
}
