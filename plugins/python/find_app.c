/* See find_app.h. */
#include "python/find_app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "python/failure.h"
#include "python/nearest.h"

#define LARGEST_FILE     ((size_t)16 << 20)
#define DEFAULT_CALLABLE "application"

/* The option's text, for messages, and what was made of it. */
struct wanted {
    const char *option;   /* "module" or "wsgi-file" */
    char *module;         /* dotted name, or path */
    const char *callable; /* as written: may end with () */
};

static void append_path(struct cc_buf *text)
{
    PyObject *path = PySys_GetObject("path"); /* borrowed */
    PyObject *repr = path == NULL ? NULL : PyObject_Repr(path);
    const char *utf8 = repr == NULL ? NULL : PyUnicode_AsUTF8(repr);
    char *here = getcwd(NULL, 0);

    cc_buf_printf(text, "searched in sys.path = %s (\".\" is %s)", utf8 == NULL ? "?" : utf8,
                  here == NULL ? "?" : here);
    free(here);
    PyErr_Clear();
    Py_XDECREF(repr);
}

/* True when the current exception says that the module itself, or a package that it is in, is not
 * there; false when something that the module imports is missing. */
static bool is_missing(const char *module)
{
    PyObject *type, *value, *trace;
    bool missing = false;

    if (!PyErr_ExceptionMatches(PyExc_ModuleNotFoundError))
        return false;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *name = PyObject_GetAttrString(value, "name");
    const char *text = name == NULL || !PyUnicode_Check(name) ? NULL : PyUnicode_AsUTF8(name);
    if (text != NULL) {
        size_t len = strlen(text);
        missing = strncmp(module, text, len) == 0 && (module[len] == '\0' || module[len] == '.');
    }
    PyErr_Clear();
    Py_XDECREF(name);
    PyErr_Restore(type, value, trace);
    return missing;
}

static void say_missing(const struct wanted *wanted, struct cc_err *err)
{
    struct cc_buf text = {0};
    size_t len = strlen(wanted->module);

    PyErr_Clear();
    append_path(&text);
    if (len > 3 && strcmp(wanted->module + len - 3, ".py") == 0)
        cc_fail(
            err,
            "module: \"%s\" is a file's name; write \"module = %.*s\" or \"wsgi-file = %s\"; %s",
            wanted->module, (int)len - 3, wanted->module, wanted->module, cc_buf_text(&text));
    else
        cc_fail(err, "module: there is no Python module \"%s\" (a file %s.py or a package); %s",
                wanted->module, wanted->module, cc_buf_text(&text));
    cc_buf_clear(&text);
}

/* The app's code raised: the whole traceback goes to the log, the last line of it to err. */
static void say_raised(struct cc_python *python, const struct wanted *wanted, struct cc_err *err)
{
    PyObject *type, *value, *trace;
    char *what = cc_format("%s: \"%s\" raised an exception", wanted->option, wanted->module);
    char *prefix = cc_format("%s (its traceback is above): ", what);

    PyErr_Fetch(&type, &value, &trace);
    Py_XINCREF(type);
    Py_XINCREF(value);
    Py_XINCREF(trace);
    PyErr_Restore(type, value, trace);
    cc_python_log_exception(python, what);
    PyErr_Restore(type, value, trace);
    cc_python_exception_text(err, prefix);
    free(prefix);
    free(what);
}

static PyObject *import_module(struct cc_python *python, const struct wanted *wanted,
                               struct cc_err *err)
{
    PyObject *module = PyImport_ImportModule(wanted->module);

    if (module != NULL)
        return module;
    if (is_missing(wanted->module))
        say_missing(wanted, err);
    else
        say_raised(python, wanted, err);
    return NULL;
}

/* uWSGI's name for such a module, which pickles and loggers of apps may hold: uwsgi_file_ and the
 * path without .py, other characters as "_". The caller frees it. */
static char *file_module_name(const char *path)
{
    size_t len = strlen(path);

    if (len > 3 && strcmp(path + len - 3, ".py") == 0)
        len -= 3;
    char *name = cc_format("uwsgi_file_%.*s", (int)len, path);
    for (char *c = name; *c != '\0'; c++)
        if (strchr("/.-", *c) != NULL)
            *c = '_';
    return name;
}

/* Compiles the source as Python would (coding line, byte order mark) and runs it as a module. */
static PyObject *run_file(const char *path, const char *source, size_t len, const char *name)
{
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *file = PyUnicode_DecodeFSDefault(path);
    PyObject *text = PyUnicode_DecodeFSDefault(name);
    PyObject *code = builtins == NULL || file == NULL || text == NULL
                         ? NULL
                         : PyObject_CallMethod(builtins, "compile", "y#Os", source, (Py_ssize_t)len,
                                               file, "exec");
    PyObject *module = code == NULL ? NULL : PyImport_ExecCodeModuleObject(text, code, file, NULL);

    Py_XDECREF(code);
    Py_XDECREF(text);
    Py_XDECREF(file);
    Py_XDECREF(builtins);
    return module;
}

static PyObject *import_file(struct cc_python *python, const struct wanted *wanted,
                             struct cc_err *err)
{
    size_t len;
    char *here = *wanted->module == '/' ? NULL : getcwd(NULL, 0);
    char *path =
        here == NULL ? cc_strdup(wanted->module) : cc_format("%s/%s", here, wanted->module);
    char *source = cc_fd_read_file(path, LARGEST_FILE, &len);
    PyObject *module = NULL;

    if (source == NULL) {
        cc_fail(err, "wsgi-file: cannot read %s: %s; expected a Python file with a callable \"%s\"",
                path, strerror(errno), wanted->callable);
    } else {
        char *name = file_module_name(wanted->module);
        module = run_file(path, source, len, name);
        if (module == NULL)
            say_raised(python, wanted, err);
        free(name);
    }
    free(source);
    free(path);
    free(here);
    return module;
}

static void say_no_callable(const struct wanted *wanted, PyObject *module, const char *missing,
                            struct cc_err *err)
{
    struct cc_buf text = {0};
    PyObject *file = PyModule_GetFilenameObject(module);
    const char *utf8 = file == NULL ? NULL : PyUnicode_AsUTF8(file);

    PyErr_Clear();
    cc_nearest_describe(module, wanted->callable, &text);
    cc_fail(err, "%s: %s (%s) has no \"%s\": %s", wanted->option, wanted->module,
            utf8 == NULL ? "no file" : utf8, missing, cc_buf_text(&text));
    PyErr_Clear();
    Py_XDECREF(file);
    cc_buf_clear(&text);
}

/* Follows a dotted path from the module. A new reference, or NULL with err filled. */
static PyObject *follow(const struct wanted *wanted, PyObject *module, char *path,
                        struct cc_err *err)
{
    PyObject *at = module;
    char *rest = path, *part;

    Py_INCREF(at);
    while (at != NULL && (part = strsep(&rest, ".")) != NULL) {
        PyObject *next = PyObject_GetAttrString(at, part);
        Py_DECREF(at);
        at = next;
        if (at == NULL)
            say_no_callable(wanted, module, part, err);
    }
    return at;
}

static PyObject *take_callable(struct cc_python *python, const struct wanted *wanted,
                               PyObject *module, struct cc_err *err)
{
    size_t len = strlen(wanted->callable);
    bool call = len > 2 && strcmp(wanted->callable + len - 2, "()") == 0;
    char *path = cc_strndup(wanted->callable, call ? len - 2 : len);
    PyObject *app = follow(wanted, module, path, err);

    free(path);
    if (app != NULL && call) {
        PyObject *made = PyCallable_Check(app) ? PyObject_CallNoArgs(app) : NULL;
        if (made == NULL && PyErr_Occurred())
            say_raised(python, wanted, err);
        else if (made == NULL)
            cc_fail(err, "%s: \"%s\" cannot be called: it is no function", wanted->option,
                    wanted->callable);
        Py_DECREF(app);
        app = made;
    }
    if (app != NULL && !PyCallable_Check(app)) {
        cc_fail(err, "%s: \"%s\" in %s is %s %s, which cannot be called: a WSGI app is a callable",
                wanted->option, wanted->callable, wanted->module, "an object of type",
                Py_TYPE(app)->tp_name);
        Py_CLEAR(app);
    }
    return app;
}

/* False: no option names an app. */
static bool what_is_wanted(struct cc_python *python, struct wanted *wanted, struct cc_err *err)
{
    const struct cc_python_settings *settings = python->settings;
    bool by_module = settings->module != NULL && *settings->module != '\0';
    const char *callable = settings->callable;

    if (!by_module && (settings->wsgi_file == NULL || *settings->wsgi_file == '\0'))
        return cc_fail(err, "no app is named: set \"module = package.module:callable\" or "
                            "\"wsgi-file = file.py\" (with \"callable = name\")");
    wanted->option = by_module ? "module" : "wsgi-file";
    wanted->module = cc_strdup(by_module ? settings->module : settings->wsgi_file);
    wanted->callable = callable == NULL || *callable == '\0' ? DEFAULT_CALLABLE : callable;
    char *colon = by_module ? strchr(wanted->module, ':') : NULL;
    if (colon != NULL) {
        *colon = '\0';
        wanted->callable = colon[1] == '\0' ? wanted->callable : colon + 1;
    }
    if (by_module && settings->wsgi_file != NULL)
        python->context.log(CC_APP_LOG_WARN,
                            "both module = %s and wsgi-file = %s are set: module is used, as uWSGI "
                            "does it",
                            settings->module, settings->wsgi_file);
    return true;
}

PyObject *cc_find_app(struct cc_python *python, struct cc_err *err)
{
    struct wanted wanted = {0};

    if (!what_is_wanted(python, &wanted, err))
        return NULL;
    PyObject *module = strcmp(wanted.option, "module") == 0 ? import_module(python, &wanted, err)
                                                            : import_file(python, &wanted, err);
    PyObject *app = module == NULL ? NULL : take_callable(python, &wanted, module, err);
    Py_XDECREF(module);
    free(wanted.module);
    return app;
}
