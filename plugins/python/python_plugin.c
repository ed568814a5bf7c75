/* The Python plugin: PEP 3333 apps in an interpreter of the worker's own. This file is its face:
 * the exported table, and the app's life from load to unload. A request is wsgi_call.c. */
#include "python/python.h"

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plugin/abi.h"
#include "python/dump.h"
#include "python/environ.h"
#include "python/failure.h"
#include "python/file_wrapper.h"
#include "python/find_app.h"
#include "python/interpreter.h"
#include "python/start_response.h"
#include "python/watch.h"
#include "python/wsgi_call.h"
#include "python/wsgi_input.h"

static bool make_ready(struct cc_python *python)
{
    if (!cc_start_response_ready() || !cc_input_ready())
        return false;
    PyObject *wrapper = cc_file_wrapper_class();
    if (wrapper == NULL)
        return false;
    python->environ =
        cc_environ_new(&python->context, python->settings->disable_file_wrapper ? NULL : wrapper);
    return python->environ != NULL;
}

/* Gives up what load() made. With the GIL, and without it afterwards. */
static void unmake(struct cc_python *python)
{
    Py_CLEAR(python->callable);
    cc_environ_free(python->environ);
    python->environ = NULL;
    for (size_t i = 0; i < CC_SEEN_NAMES; i++)
        Py_CLEAR(python->seen_names[i].name);
    cc_interpreter_stop(python);
    free(python);
}

static void *load(const void *settings, const struct cc_app_context *context, struct cc_err *err)
{
    struct cc_python *python = cc_alloc_zeroed(1, sizeof *python);

    python->settings = settings;
    python->context = *context;
    python->worker = context->worker;
    if (!cc_interpreter_start(python, err)) {
        free(python);
        return NULL;
    }
    if (make_ready(python))
        python->callable = cc_find_app(python, err);
    else
        cc_python_exception_text(err, "cannot prepare Python: ");
    if (python->callable == NULL) {
        unmake(python);
        return NULL;
    }
    python->context.options = NULL; /* lent until here */
    python->context.n_options = 0;
    cc_watch_note(python);
    if (context->worker > 0)
        cc_interpreter_begin_worker(python, context->worker);
    python->main = PyEval_SaveThread();
    return python;
}

static void before_fork(void *app)
{
    cc_interpreter_before_fork(app);
}

static void after_fork_parent(void *app)
{
    cc_interpreter_after_fork_parent(app);
}

static bool after_fork_child(void *app, int worker, struct cc_err *err)
{
    (void)err;
    cc_interpreter_after_fork_child(app, worker);
    return true;
}

/* The main thread has a state already. Any other gets one by PyGILState_Ensure(), so that extension
 * modules that use that function on this thread find the same state. */
static void *thread_begin(void *app, int worker, int index)
{
    struct cc_python *python = app;
    struct cc_python_thread *thread = cc_alloc_zeroed(1, sizeof *thread);
    (void)worker;

    thread->python = python;
    thread->is_main = index == 0;
    thread->call.head.length = -1;
    if (thread->is_main) {
        thread->state = python->main;
    } else {
        thread->gil = PyGILState_Ensure();
        thread->state = PyEval_SaveThread();
    }
    return thread;
}

static void handle(void *app, void *thread, struct cc_request *request, struct cc_reply *reply)
{
    (void)app;
    cc_wsgi_call(thread, request, reply);
}

static void thread_end(void *app, void *ended)
{
    struct cc_python_thread *thread = ended;
    struct cc_python *python = app;

    PyEval_RestoreThread(thread->state);
    cc_wsgi_thread_clear(thread);
    if (thread->is_main)
        python->main = PyEval_SaveThread();
    else
        PyGILState_Release(thread->gil);
    free(thread);
}

static void dump_stacks(void *app, int fd)
{
    (void)app; /* the interpreter may run without an app that is loaded */
    cc_dump_stacks(fd);
}

static void unload(void *app)
{
    struct cc_python *python = app;

    PyEval_RestoreThread(python->main);
    unmake(python);
}

static const struct cc_app operations = {
    .load = load,
    .before_fork = before_fork,
    .after_fork_parent = after_fork_parent,
    .after_fork_child = after_fork_child,
    .thread_begin = thread_begin,
    .handle = handle,
    .thread_end = thread_end,
    .dump_stacks = dump_stacks,
    .unload = unload,
};

CC_EXPORT extern const struct cc_plugin cc_plugin;
const struct cc_plugin cc_plugin = {
    .abi = CC_ABI,
    .size = sizeof(struct cc_plugin),
    .kind = CC_PLUGIN_APP,
    .flags = CC_PLUGIN_GLOBAL_SYMBOLS,
    .name = "python",
    .version = PACKAGE_VERSION,
    .options = &cc_python_options,
    .ops.app = &operations,
};
