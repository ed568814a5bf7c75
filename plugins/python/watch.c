/* See watch.h. The thread has the GIL only to see which modules there are: no code of Python's runs
 * meanwhile, so it is a fraction of a millisecond. What the files are like it asks without. It goes
 * on after it has asked for a reload, as a broken edit leaves this worker serving and the next one
 * is to be seen; each change asks once. */
#include "python/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"

/* What tells one state of a file from another. All zero: it has not been seen. */
struct stamp {
    int64_t mtime_s, mtime_ns, size;
    uint64_t inode, device;
};

struct file {
    char *path; /* owned */
    struct stamp stamp;
};

/* Files are the thread's while it runs, the main thread's before and after. */
struct cc_watch {
    struct cc_python *python;
    struct file *files; /* sorted by path */
    size_t count, cap;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t wakeup;
    bool over; /* under lock */
};

/* -- Files -- */

static struct stamp stamp_of(const char *path)
{
    struct stamp stamp = {0};
    struct stat info;

    if (stat(path, &info) == 0)
        stamp = (struct stamp){
            .mtime_s = info.st_mtim.tv_sec,
            .mtime_ns = info.st_mtim.tv_nsec,
            .size = info.st_size,
            .inode = info.st_ino,
            .device = info.st_dev,
        };
    return stamp;
}

static bool same(const struct stamp *a, const struct stamp *b)
{
    return a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns && a->size == b->size &&
           a->inode == b->inode && a->device == b->device;
}

/* Where the path is, or would be. */
static size_t place_of(const struct cc_watch *watch, const char *path)
{
    size_t low = 0, high = watch->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(watch->files[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_file(struct cc_watch *watch, const char *path)
{
    size_t at = place_of(watch, path);

    if (at < watch->count && strcmp(watch->files[at].path, path) == 0)
        return;
    if (watch->count == watch->cap) {
        watch->cap = watch->cap == 0 ? 256 : watch->cap * 2;
        watch->files = cc_realloc(watch->files, watch->cap * sizeof *watch->files);
    }
    memmove(&watch->files[at + 1], &watch->files[at], (watch->count - at) * sizeof *watch->files);
    watch->files[at] = (struct file){.path = cc_strdup(path)};
    watch->count++;
}

static bool is_ignored(const struct cc_python_settings *settings, PyObject *name)
{
    for (size_t i = 0; i < settings->autoreload_ignore.count; i++)
        if (PyUnicode_CompareWithASCIIString(name, settings->autoreload_ignore.items[i].text) == 0)
            return true;
    return false;
}

/* Adds the files of modules that were not there before. With the GIL; nothing in here runs code of
 * Python's, so sys.modules does not change under it. */
static void add_modules(struct cc_watch *watch)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *name, *module;
    Py_ssize_t at = 0;

    if (!PyDict_CheckExact(modules))
        return;
    while (PyDict_Next(modules, &at, &name, &module)) {
        if (!PyModule_Check(module) || !PyUnicode_Check(name) ||
            is_ignored(watch->python->settings, name))
            continue;
        PyObject *file = PyDict_GetItemString(PyModule_GetDict(module), "__file__");
        const char *path = file != NULL && PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : NULL;
        if (path != NULL)
            add_file(watch, path);
        PyErr_Clear();
    }
}

/* -- Looking -- */

/* The first file that is not what it was; NULL: none. All stamps are brought up to date, so a
 * change counts once. A file that is gone is none until it is there again: editors do that. */
static const char *find_change(struct cc_watch *watch)
{
    static const struct stamp unseen;
    const char *changed = NULL;

    for (size_t i = 0; i < watch->count; i++) {
        struct file *file = &watch->files[i];
        struct stamp now = stamp_of(file->path);
        if (same(&now, &unseen) || same(&now, &file->stamp))
            continue;
        if (!same(&file->stamp, &unseen) && changed == NULL)
            changed = file->path;
        file->stamp = now;
    }
    return changed;
}

static void look(struct cc_watch *watch)
{
    struct cc_python *python = watch->python;
    char why[512];

    PyGILState_STATE gil = PyGILState_Ensure();
    add_modules(watch);
    PyGILState_Release(gil);
    const char *changed = find_change(watch);
    if (changed == NULL)
        return;
    snprintf(why, sizeof why, "%s has changed", changed);
    python->context.ask(CC_APP_ASK_RELOAD, why);
}

/* False: it is over. */
static bool wait_for_turn(struct cc_watch *watch)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += watch->python->settings->autoreload;
    pthread_mutex_lock(&watch->lock);
    while (!watch->over &&
           pthread_cond_timedwait(&watch->wakeup, &watch->lock, &until) != ETIMEDOUT)
        ;
    bool over = watch->over;
    pthread_mutex_unlock(&watch->lock);
    return !over;
}

static void *run(void *argument)
{
    struct cc_watch *watch = argument;

    pthread_setname_np(pthread_self(), "cc-autoreload");
    while (wait_for_turn(watch))
        look(watch);
    return NULL;
}

/* -- Start and end -- */

void cc_watch_note(struct cc_python *python)
{
    struct cc_watch *watch;

    if (python->settings->autoreload == 0 || python->context.worker > 1)
        return;
    if (python->context.master == 0) {
        python->context.log(CC_APP_LOG_WARN,
                            "py-autoreload does nothing: it takes a master (master = true)");
        return;
    }
    watch = python->watch = cc_alloc_zeroed(1, sizeof *watch);
    watch->python = python;
    add_modules(watch);
    find_change(watch);
}

void cc_watch_start(struct cc_python *python)
{
    struct cc_watch *watch = python->watch;
    pthread_condattr_t monotonic;
    sigset_t all, before;

    if (watch == NULL || watch->running)
        return;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->wakeup, &monotonic);
    pthread_condattr_destroy(&monotonic);
    /* Signals are for others, but the real-time ones by which a thread tells where it is. */
    sigfillset(&all);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigdelset(&all, number);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch->running = pthread_create(&watch->thread, NULL, run, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (watch->running)
        pthread_setname_np(watch->thread, "cc-autoreload");
    else
        python->context.log(CC_APP_LOG_WARN, "py-autoreload does nothing: no thread for it");
}

static void end_thread(struct cc_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->over = true;
    pthread_cond_signal(&watch->wakeup);
    pthread_mutex_unlock(&watch->lock);
    Py_BEGIN_ALLOW_THREADS /* which it may wait for */
        pthread_join(watch->thread, NULL);
    Py_END_ALLOW_THREADS pthread_cond_destroy(&watch->wakeup);
    pthread_mutex_destroy(&watch->lock);
}

void cc_watch_stop(struct cc_python *python)
{
    struct cc_watch *watch = python->watch;

    if (watch == NULL)
        return;
    if (watch->running)
        end_thread(watch);
    for (size_t i = 0; i < watch->count; i++)
        free(watch->files[i].path);
    free(watch->files);
    free(watch);
    python->watch = NULL;
}
