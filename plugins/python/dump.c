/* See dump.h. The public way to all threads' stacks without the GIL is faulthandler.register(): a
 * signal whose handler writes them to a descriptor. (The function below it, of C, is private, and
 * since Python 3.13 not exported.) So a signal that nobody else has is registered with a descriptor
 * that leads nowhere, and for a dump that number is pointed at the file that is wanted. It does not
 * touch what the app does with faulthandler.enable(). */
#include "python/dump.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* SIGRTMAX - 3 and - 4 are the host's. */
#define DUMP_SIGNAL (SIGRTMAX - 2)

/* The descriptor that faulthandler writes to; of the process, because a handler has no argument. */
static int dump_fd = -1;

void cc_dump_register(void)
{
    if (dump_fd < 0)
        dump_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (dump_fd < 0)
        return;
    PyObject *module = PyImport_ImportModule("faulthandler");
    PyObject *done = module == NULL ? NULL
                                    : PyObject_CallMethod(module, "register", "iiOO", DUMP_SIGNAL,
                                                          dump_fd, Py_True, Py_False);
    PyErr_Clear();
    Py_XDECREF(done);
    Py_XDECREF(module);
}

/* An app that closes all descriptors, as daemons do, may have opened a file of its own by now that
 * has the number. */
static bool still_ours(void)
{
    struct stat info;

    return fstat(dump_fd, &info) != 0 || (S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));
}

static bool is_registered(void)
{
    struct sigaction action;

    return sigaction(DUMP_SIGNAL, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
           action.sa_handler != SIG_IGN;
}

void cc_dump_stacks(int fd)
{
    sigset_t only, before;

    if (dump_fd < 0 || !is_registered() || !still_ours() || dup3(fd, dump_fd, O_CLOEXEC) < 0)
        return;
    sigemptyset(&only);
    sigaddset(&only, DUMP_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &only, &before);
    raise(DUMP_SIGNAL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) {
        close(dump_fd);
        return;
    }
    dup3(nowhere, dump_fd, O_CLOEXEC);
    close(nowhere);
}
