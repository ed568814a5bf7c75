/* See uwsgi_module.h. It follows uWSGI where code written for it looks: texts are bytes, options
 * without a value are True, a repeated option is a list. */
#include "python/uwsgi_module.h"

#include <config.h>

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/attributes.h"
#include "python/failure.h"

/* The release of uWSGI whose module this is like: libraries decide by it. */
#define UWSGI_VERSION "2.0.31"

/* Of the interpreter, which a process has one of: module functions have no argument of ours. */
static struct {
    struct cc_app_context
        context; /* a copy: threads of the app may outlive the plugin's own state */
    int worker;  /* 0: before the fork */
} shared;

static PyObject *masterpid(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromLong(shared.context.master);
}

static PyObject *worker_id(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromLong(shared.worker);
}

static PyObject *mypid(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromLong(getpid());
}

/* mule_id(), and no other: a worker is no mule. */
static PyObject *zero(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromLong(0);
}

static PyObject *no(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    Py_RETURN_FALSE;
}

static PyObject *reload(PyObject *self, PyObject *none)
{
    const struct cc_app_context *context = &shared.context;
    (void)self;
    (void)none;

    if (context->ask == NULL)
        Py_RETURN_FALSE;
    Py_BEGIN_ALLOW_THREADS context->ask(CC_APP_ASK_RELOAD, "the app called uwsgi.reload()");
    Py_END_ALLOW_THREADS Py_RETURN_TRUE;
}

static PyObject *log_text(PyObject *self, PyObject *arguments)
{
    const struct cc_app_context *context = &shared.context;
    const char *text;
    (void)self;

    if (!PyArg_ParseTuple(arguments, "s:log", &text))
        return NULL;
    Py_BEGIN_ALLOW_THREADS context->log(CC_APP_LOG_INFO, "%s", text);
    Py_END_ALLOW_THREADS Py_RETURN_TRUE;
}

/* Why a name of uWSGI's module is not there; by how it begins. */
static const char *reason_of(const char *name)
{
    static const struct {
        const char *start, *reason;
    } reasons[] = {
        {"spool", "the spooler is not in ccontainer; use a task queue such as Celery or RQ"},
        {"send_to_spooler", "the spooler is not in ccontainer; use a task queue such as Celery"},
        {"SPOOL_", "the spooler is not in ccontainer; use a task queue such as Celery or RQ"},
        {"mule", "mules are not in ccontainer; run a process of your own beside it"},
        {"farm", "mules are not in ccontainer; run a process of your own beside it"},
        {"in_farm", "mules are not in ccontainer; run a process of your own beside it"},
        {"cache_", "the cache is not in ccontainer; use Redis or memcached"},
        {"queue", "shared queues are not in ccontainer; use a task queue or Redis"},
        {"sharedarea", "shared areas are not in ccontainer; use multiprocessing.shared_memory"},
        {"signal", "uWSGI's signals are not in ccontainer; use threads or a scheduler"},
        {"register_signal", "uWSGI's signals, and with them its timers, cron and file monitors, "
                            "are not in ccontainer; use a thread or cron"},
        {"add_", "uWSGI's timers, cron and file monitors are not in ccontainer; use a thread or "
                 "cron"},
        {"register_rpc", "RPC is not in ccontainer"},
        {"rpc", "RPC is not in ccontainer"},
        {"websocket_", "WebSockets are not in ccontainer"},
        {"async_", "uWSGI's async mode is not in ccontainer; use threads"},
        {"wait_fd_", "uWSGI's async mode is not in ccontainer; use threads"},
        {"suspend", "uWSGI's async mode is not in ccontainer; use threads"},
        {"lock", "locks between workers are not in ccontainer; use fcntl.flock()"},
        {"unlock", "locks between workers are not in ccontainer; use fcntl.flock()"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strncmp(name, reasons[i].start, strlen(reasons[i].start)) == 0)
            return reasons[i].reason;
    return "ccontainer's uwsgi module does not have it";
}

/* PEP 562: called for what is not in the module. */
static PyObject *get_missing(PyObject *self, PyObject *name)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    (void)self;

    if (text == NULL && PyErr_Occurred())
        return NULL;
    /* Names that Python itself and inspecting code ask for get no lecture. */
    if (text != NULL && text[0] != '_')
        PyErr_Format(PyExc_AttributeError, "uwsgi.%s: %s", text, reason_of(text));
    else
        PyErr_Format(PyExc_AttributeError, "module 'uwsgi' has no attribute %R", name);
    return NULL;
}

static PyMethodDef functions[] = {
    {"masterpid", masterpid, METH_NOARGS, "The master's process id; 0: there is no master."},
    {"worker_id", worker_id, METH_NOARGS, "This worker's number, from 1; 0: before the fork."},
    {"mypid", mypid, METH_NOARGS, "This process's id."},
    {"mule_id", zero, METH_NOARGS, "0: workers are no mules."},
    {"i_am_the_spooler", no, METH_NOARGS, "False."},
    {"reload", reload, METH_NOARGS, "Asks for a reload of the app in all workers."},
    {"log", log_text, METH_VARARGS, "Writes a line to the server's log."},
    {"__getattr__", get_missing, METH_O, "Says why a name is not here."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "uwsgi",
    .m_doc = "ccontainer's stand-in for uWSGI's module.",
    .m_size = -1,
    .m_methods = functions,
};

/* Takes over value. False with an exception. */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    bool ok = value != NULL && PyDict_SetItemString(dict, name, value) == 0;

    Py_XDECREF(value);
    return ok;
}

/* Adds one option; a second value of the same name makes a list. */
static bool add_option(PyObject *opt, const struct cc_pair *pair)
{
    PyObject *name = PyUnicode_DecodeUTF8(pair->name.at, (Py_ssize_t)pair->name.len, "replace");
    PyObject *value = pair->value.at == NULL
                          ? PyBool_FromLong(1)
                          : PyBytes_FromStringAndSize(pair->value.at, (Py_ssize_t)pair->value.len);
    PyObject *there = name == NULL ? NULL : PyDict_GetItemWithError(opt, name); /* borrowed */
    bool ok = name != NULL && value != NULL && !PyErr_Occurred();

    if (ok && there == NULL) {
        ok = PyDict_SetItem(opt, name, value) == 0;
    } else if (ok && PyList_Check(there)) {
        ok = PyList_Append(there, value) == 0;
    } else if (ok) {
        PyObject *list = Py_BuildValue("[OO]", there, value);
        ok = list != NULL && PyDict_SetItem(opt, name, list) == 0;
        Py_XDECREF(list);
    }
    Py_XDECREF(name);
    Py_XDECREF(value);
    return ok;
}

/* What is always so here; error reporters and tracers refuse to work, or warn, where they do not
 * find it. */
static bool add_implied(PyObject *opt)
{
    static const char *const names[] = {"enable-threads", "py-call-uwsgi-fork-hooks",
                                        "py-call-osafterfork"};
    bool ok = true;

    for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++)
        ok = PyDict_SetItemString(opt, names[i], Py_True) == 0;
    return ok;
}

static PyObject *make_opt(const struct cc_app_context *context)
{
    PyObject *opt = PyDict_New();
    bool ok = opt != NULL;

    for (size_t i = 0; ok && i < context->n_options; i++)
        ok = add_option(opt, &context->options[i]);
    if (!ok || !add_implied(opt))
        Py_CLEAR(opt);
    return opt;
}

static bool fill(PyObject *dict, const struct cc_app_context *context)
{
    char host[256] = "";

    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    return put(dict, "opt", make_opt(context)) &&
           put(dict, "version", PyBytes_FromString(UWSGI_VERSION)) &&
           put(dict, "version_info", Py_BuildValue("(iiiis)", 2, 0, 31, 0, "")) &&
           put(dict, "ccontainer_version", PyUnicode_FromString(PACKAGE_VERSION)) &&
           put(dict, "hostname", PyBytes_FromString(host)) &&
           put(dict, "numproc", PyLong_FromLong(context->processes)) &&
           put(dict, "cores", PyLong_FromLong(context->threads)) &&
           put(dict, "has_threads", PyLong_FromLong(1)) &&
           put(dict, "started_on", PyLong_FromLongLong((long long)time(NULL)));
}

bool cc_uwsgi_module_make(struct cc_python *python)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */

    shared.context = python->context;
    shared.worker = python->context.worker;
    PyObject *module = PyModule_Create(&definition);
    bool ok = module != NULL && fill(PyModule_GetDict(module), &python->context) &&
              PyDict_SetItemString(modules, "uwsgi", module) == 0;
    Py_XDECREF(module);
    return ok;
}

void cc_uwsgi_module_worker(int worker)
{
    shared.worker = worker;
}

void cc_uwsgi_module_hook(struct cc_python *python, const char *name)
{
    PyObject *modules = PyImport_GetModuleDict();                      /* borrowed */
    PyObject *module = PyDict_GetItemString(modules, "uwsgi");         /* borrowed */
    PyObject *dict = module == NULL ? NULL : PyModule_GetDict(module); /* borrowed */
    PyObject *hook = dict == NULL ? NULL : PyDict_GetItemString(dict, name);
    char what[64];

    PyErr_Clear();
    if (hook == NULL || hook == Py_None)
        return;
    Py_INCREF(hook);
    PyObject *done = PyObject_CallNoArgs(hook);
    Py_DECREF(hook);
    PyOS_snprintf(what, sizeof what, "uwsgi.%s raised an exception", name);
    if (done == NULL)
        cc_python_log_exception(python, what);
    Py_XDECREF(done);
}
