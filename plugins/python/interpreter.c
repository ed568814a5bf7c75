/* See interpreter.h. */
#include "python/interpreter.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "python/dump.h"
#include "python/failure.h"
#include "python/home.h"
#include "python/streams.h"
#include "python/threads.h"
#include "python/uwsgi_module.h"
#include "python/watch.h"

/* Extension modules find libpython's functions among the global symbols, and the plugin was opened
 * without making any global. */
static bool show_symbols(struct cc_err *err)
{
    Dl_info info;

    if (dladdr((void *)(uintptr_t)Py_InitializeFromConfig, &info) == 0)
        return true; /* in no shared library, so they are visible already */
    if (dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) != NULL)
        return true;
    return cc_fail(err, "cannot make the symbols of %s visible: %s", info.dli_fname, dlerror());
}

/* sys.argv: "uwsgi", which apps look for, and the words of pyargv. */
static PyStatus set_argv(PyConfig *config, const char *pyargv)
{
    char *words = cc_strdup(pyargv == NULL ? "" : pyargv), *rest = words;
    char **argv = cc_alloc((strlen(words) / 2 + 3) * sizeof *argv);
    char *word;
    Py_ssize_t argc = 0;

    argv[argc++] = cc_strdup("uwsgi");
    while ((word = strtok_r(rest, " \t", &rest)) != NULL)
        argv[argc++] = word;
    PyStatus status = PyConfig_SetBytesArgv(config, argc, argv);
    free(argv[0]);
    free(argv);
    free(words);
    return status;
}

static PyStatus configure(PyConfig *config, const struct cc_python_settings *settings,
                          const struct cc_home *home)
{
    config->install_signal_handlers = 0; /* signals are the container's */
    config->parse_argv = 0;
    if (settings->optimize > 0)
        config->optimization_level = (int)settings->optimize;
    PyStatus status = PyConfig_SetBytesString(config, &config->program_name, home->program);
    if (!PyStatus_Exception(status) && home->prefix != NULL)
        status = PyConfig_SetBytesString(config, &config->home, home->prefix);
    if (!PyStatus_Exception(status))
        status = set_argv(config, settings->pyargv);
    return status;
}

static bool initialize(const struct cc_python_settings *settings, const struct cc_home *home,
                       struct cc_err *err)
{
    PyConfig config;

    PyConfig_InitPythonConfig(&config);
    PyStatus status = configure(&config, settings, home);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        return cc_fail(err, "Python %s does not start (program %s): %s%s%s", PY_VERSION,
                       home->program, status.func == NULL ? "" : status.func,
                       status.func == NULL ? "" : ": ",
                       status.err_msg == NULL ? "no reason given" : status.err_msg);
    return true;
}

static bool insert_first(PyObject *path, const char *folder)
{
    PyObject *text = PyUnicode_DecodeFSDefault(folder);
    bool ok = text != NULL && PyList_Insert(path, 0, text) == 0;

    Py_XDECREF(text);
    return ok;
}

/* One pythonpath line: a pattern stands for all that it matches, as in uWSGI. */
static bool insert_matching(struct cc_python *python, PyObject *path, const char *pattern)
{
    glob_t found;
    bool ok = true;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) {
        python->context.log(CC_APP_LOG_WARN, "pythonpath: %s: no such folder", pattern);
        return insert_first(path, pattern);
    }
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        ok = insert_first(path, found.gl_pathv[i]);
    globfree(&found);
    return ok;
}

/* uWSGI's order, which files rely on: the working directory first, then each pythonpath line goes
 * in front of what is there. */
static bool set_path(struct cc_python *python)
{
    PyObject *path = PySys_GetObject("path"); /* borrowed */
    const struct cc_texts *folders = &python->settings->pythonpath;

    if (path == NULL || !PyList_Check(path))
        return false;
    bool ok = insert_first(path, ".");
    for (size_t i = 0; ok && i < folders->count; i++)
        ok = insert_matching(python, path, folders->items[i].text);
    return ok;
}

/* What the app prints is to appear when a line is whole, also in a file or pipe. */
static bool set_line_buffering(void)
{
    PyObject *file = PySys_GetObject("stdout"); /* borrowed; None when descriptor 1 is closed */

    if (file == NULL || file == Py_None)
        return true;
    PyObject *method = PyObject_GetAttrString(file, "reconfigure");
    PyObject *none = PyTuple_New(0);
    PyObject *words = Py_BuildValue("{s:O}", "line_buffering", Py_True);
    PyObject *done =
        method == NULL || none == NULL || words == NULL ? NULL : PyObject_Call(method, none, words);
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(words);
    Py_XDECREF(done);
    return done != NULL;
}

static bool prepare(struct cc_python *python)
{
    PyObject *traceback = PyImport_ImportModule("traceback");

    if (traceback == NULL)
        return false;
    python->format_exception = PyObject_GetAttrString(traceback, "format_exception");
    Py_DECREF(traceback);
    /* threading takes the thread that imports it first for the main one. */
    PyObject *threading = PyImport_ImportModule("threading");
    Py_XDECREF(threading);
    return python->format_exception != NULL && threading != NULL && set_line_buffering() &&
           set_path(python) && cc_uwsgi_module_make(python);
}

bool cc_interpreter_start(struct cc_python *python, struct cc_err *err)
{
    struct cc_home home;

    if (!cc_home_find(python->settings->home, &home, err))
        return false;
    bool ok = show_symbols(err) && initialize(python->settings, &home, err);
    cc_home_clear(&home);
    if (!ok)
        return false;
    cc_dump_register();
    if (prepare(python))
        return true;
    cc_python_exception_text(err, "cannot prepare Python: ");
    cc_interpreter_stop(python);
    return false;
}

static void flush_files(void)
{
    static const char *const names[] = {"stdout", "stderr"};

    for (size_t i = 0; i < 2; i++) {
        PyObject *file = PySys_GetObject(names[i]); /* borrowed */
        if (file == NULL || file == Py_None)
            continue;
        Py_INCREF(file);
        PyObject *done = PyObject_CallMethod(file, "flush", NULL);
        Py_DECREF(file);
        Py_XDECREF(done);
        PyErr_Clear();
    }
}

static void run_atexit(struct cc_python *python)
{
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *done = atexit == NULL ? NULL : PyObject_CallMethod(atexit, "_run_exitfuncs", NULL);

    if (done == NULL)
        cc_python_log_exception(python, "a function registered with atexit raised an exception");
    Py_XDECREF(done);
    Py_XDECREF(atexit);
}

void cc_interpreter_stop(struct cc_python *python)
{
    cc_watch_stop(python);
    if (python->worker > 0)
        cc_uwsgi_module_hook(python, "atexit");
    bool ended = cc_threads_end(python);

    Py_CLEAR(python->format_exception);
    if (ended) {
        Py_FinalizeEx(); /* what it cannot flush it has said itself */
        return;
    }
    /* A thread still runs the app's code: the interpreter cannot go away under it. */
    run_atexit(python);
    flush_files();
    PyEval_SaveThread();
}

void cc_interpreter_begin_worker(struct cc_python *python, int worker)
{
    python->worker = worker;
    cc_uwsgi_module_worker(worker);
    cc_uwsgi_module_hook(python, "post_fork_hook");
    if (worker == 1)
        cc_watch_start(python);
}

void cc_interpreter_before_fork(struct cc_python *python)
{
    PyEval_RestoreThread(python->main);
    python->had_threads = cc_threads_note(python, !python->forked);
    python->forked = true;
    /* Or the child writes what is left in the buffers once more. With threads the child gets empty
     * ones instead: a thread may be holding a file, and how long is not ours to say. */
    if (!python->had_threads)
        flush_files();
    PyOS_BeforeFork();
}

void cc_interpreter_after_fork_parent(struct cc_python *python)
{
    PyOS_AfterFork_Parent();
    python->main = PyEval_SaveThread();
}

void cc_interpreter_after_fork_child(struct cc_python *python, int worker)
{
    PyOS_AfterFork_Child();
    if (python->had_threads)
        cc_streams_after_fork();
    cc_interpreter_begin_worker(python, worker);
    python->main = PyEval_SaveThread();
}
