/* An application plugin: runs the user's code. Lifetimes, in order:
 *     load                  once a generation, in the process that will fork the workers
 *                           (with lazy-apps in each worker)
 *     before_fork / after_fork_parent / after_fork_child    around each fork of a loaded app
 *     thread_begin          once on each app thread, before its first request
 *     handle                for each request, on an app thread
 *     thread_end, unload    on the way out
 * Every member but load and handle may be NULL. */
#ifndef CC_PLUGIN_APP_H
#define CC_PLUGIN_APP_H

#include <stddef.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/err.h"
#include "request/request.h"
#include "request/response.h"

enum cc_app_log { CC_APP_LOG_ERROR, CC_APP_LOG_WARN, CC_APP_LOG_INFO };

/* What an app may ask of the process manager. */
enum cc_app_ask {
    CC_APP_ASK_RELOAD,  /* the app in all workers, as SIGHUP does */
    CC_APP_ASK_REPLACE, /* this worker alone, once its requests are answered */
};

/* How the app will be run. Lent to load(); copy what is needed. */
struct cc_app_context {
    int processes, threads;
    bool lazy;     /* load() runs in the worker */
    bool need_app; /* a failed load ends the start: nothing is served without the app */
    int worker;    /* the worker that load() runs in, counted from 1; 0: it comes before the fork */
    pid_t master;  /* its process; 0: there is none */
    /* The configuration, for apps that look at it. value.at NULL: a flag without a value. Lent for
     * the time of load(). */
    const struct cc_pair *options;
    size_t n_options;
    /* One line (or several) to the log. Any thread; writes and returns. */
    void (*log)(enum cc_app_log level, const char *format, ...) CC_PRINTF(2, 3);
    /* Asks for it; why is for the log. Any thread of a worker; writes and returns. Without a
     * master, and before the fork, it says in the log that nobody is there to do it. */
    void (*ask)(enum cc_app_ask what, const char *why);
};

enum cc_sent {
    CC_SENT,         /* handed to the kernel, or kept to be sent by the loop (the last piece) */
    CC_SENT_PENDING, /* the peer is slow: call drain() before the next piece */
    CC_SENT_GONE,    /* the peer is gone: stop */
};

/* The way back to the client, given to handle(). One thread at a time. Nothing here takes a lock
 * that another app thread holds for long; only drain() and file() may wait for the peer, so an
 * interpreter lock must be released around those two. */
struct cc_reply {
    /* The response's head; kept until the first body(), file() or end(). Once a request. */
    void (*head)(struct cc_reply *reply, const struct cc_response *response);
    /* A piece of body; copied or sent before it returns. last: nothing follows but end(). */
    enum cc_sent (*body)(struct cc_reply *reply, const char *bytes, size_t len, bool last);
    /* Waits until what body() left pending is sent. false: the peer is gone. */
    bool (*drain)(struct cc_reply *reply);
    /* Sends len bytes of fd from offset by sendfile(2). 0: to its end. May wait.
     * Returns the bytes sent, or -1: the peer is gone, or fd cannot be read. */
    int64_t (*file)(struct cc_reply *reply, int fd, int64_t offset, int64_t len);
    /* The response is over: exactly once a request, also after GONE. After it the request and the
     * reply are not the app's any more. whole = false: the app failed half-way, the client must see
     * that the body is cut. Without a head() before it the client gets a plain 500. */
    void (*end)(struct cc_reply *reply, bool whole);
};

struct cc_app {
    /* Loads the user's app. NULL: err says why, in full. settings: what cc_plugin.options filled;
     * lives as long as the process. */
    void *(*load)(const void *settings, const struct cc_app_context *context, struct cc_err *err);
    void (*before_fork)(void *app);
    void (*after_fork_parent)(void *app);
    bool (*after_fork_child)(void *app, int worker, struct cc_err *err);
    /* worker counts from 1, thread from 0; thread 0 is the process's main thread. */
    void *(*thread_begin)(void *app, int worker, int thread);
    void (*handle)(void *app, void *thread, struct cc_request *request, struct cc_reply *reply);
    void (*thread_end)(void *app, void *thread);
    /* Writes to fd where the app's threads stand: for a stuck worker, or one that has crashed.
     * Called in a signal handler, on any thread, whatever locks are held: so it takes none, the
     * interpreter's neither, and no memory. app is NULL while load() runs and after unload(). */
    void (*dump_stacks)(void *app, int fd);
    void (*unload)(void *app);
};

#endif
