/* What the files of the Python plugin share: the loaded app, a thread that runs it, and the call in
 * progress.
 *
 * struct cc_python is written by load() and the fork hooks on the main thread and read by all
 * threads that hold the interpreter's lock (the GIL). struct cc_python_thread belongs to its app
 * thread. struct cc_call is that thread's too, but the app may hand start_response(), write() and
 * wsgi.input to threads of its own: everything in it is touched under the GIL only. */
#ifndef CC_PYTHON_PYTHON_H
#define CC_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/app.h"
#include "python/settings.h"

struct cc_environ;
struct cc_watch;
struct cc_python_thread;

#define CC_SEEN_NAMES 64 /* a power of two */

/* A header name that was checked before, known again by its address: most apps pass the same str
 * objects each time. Owned. */
struct cc_seen_name {
    PyObject *name;
    bool is_content_length;
};

struct cc_python {
    const struct cc_python_settings *settings;
    struct cc_app_context context; /* a copy */
    PyThreadState *main;           /* the main thread's state, while it does not hold the GIL */
    PyObject *callable;
    struct cc_environ *environ;
    PyObject *format_exception; /* traceback.format_exception */
    struct cc_seen_name seen_names[CC_SEEN_NAMES];
    bool forked;            /* the warning about threads has been considered */
    bool had_threads;       /* the app, when the process was forked last */
    int worker;             /* counts from 1; 0: before the fork */
    struct cc_watch *watch; /* py-autoreload; NULL: it is off */
    bool asked_replacement; /* reload-on-exception has; any thread with the GIL */
};

/* The head that the app gave to start_response(): parsed, with references to the strings that the
 * spans point into. Its memory is kept from request to request. */
struct cc_head {
    int status; /* 0: start_response() has not been called */
    struct cc_span reason;
    struct cc_pair *pairs;
    PyObject **held; /* two a pair: name and value */
    PyObject *held_status;
    size_t count, cap;
    int64_t length; /* of the Content-Length header; -1: none */
};

/* One request in the app. */
struct cc_call {
    struct cc_python_thread *thread;
    struct cc_request *request;
    struct cc_reply *reply;
    struct cc_head head;
    int64_t length; /* of the whole body, as the client was told; -1: not told */
    int64_t sent;   /* bytes of body so far */
    bool head_sent; /* reply->head() was called */
    bool bodiless;  /* HEAD, 204, 304: the body never gets to the client */
    bool gone;      /* the client is */
    bool overlong;  /* the app sends more than it announced; said once */
    bool sending;   /* a thread is inside the reply without the GIL */
};

/* start_response() or write() of a call. call is NULL once the request is over: the app may keep
 * the object for as long as it likes. */
struct cc_bound {
    PyObject_HEAD vectorcallfunc vectorcall;
    struct cc_call *call;
};

struct cc_python_thread {
    struct cc_python *python;
    PyThreadState *state;
    PyGILState_STATE gil; /* of PyGILState_Ensure(); not on the main thread */
    bool is_main;
    struct cc_call call;
    /* Made for the first request, and used again while the app kept no reference to them. */
    struct cc_bound *start_response, *write;
    struct cc_input *input;
    PyObject *leftover; /* a small piece of body that was sent without the GIL; freed at the next
                         * request */
};

#endif
