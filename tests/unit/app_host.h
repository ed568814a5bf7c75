/* The smallest host of an app plugin: opens it as the server does, and answers with a reply that
 * records instead of sending. For unit tests; one thread but for the reply's own. */
#ifndef APP_HOST_H
#define APP_HOST_H

#include "base/buf.h"
#include "plugin/abi.h"
#include "plugin/app.h"

struct app_host {
    void *handle;
    const struct cc_plugin *plugin;
    const struct cc_app *app;
    void *settings;
    void *state;  /* of load() */
    void *thread; /* of thread_begin(), the main one */
    struct cc_err err;
};

/* What came of one request. */
struct answer {
    struct cc_reply reply; /* first: the callbacks find the rest behind it */
    int status;            /* 0: no head came */
    char reason[64];
    struct cc_buf headers; /* "Name: value\n" each */
    struct cc_buf body;
    struct cc_buf events; /* "head body(3) drain file(5) end(whole)": what was called, in order */
    struct cc_buf log;    /* what went to descriptor 2 meanwhile */
    int64_t length;       /* of the response */
    bool length_is_header, whole;
    int ends;
    /* How the client behaves. */
    int gone_after; /* pieces that are taken before the client goes; -1: it stays */
    bool slow;      /* every piece stays pending */
};

/* Opens .libs/<name>.so of the build tree; fails the test when it cannot. */
void app_host_open(struct app_host *host, const char *name);
/* Sets an option by its name or alias as the ini would; fails the test when there is none. */
void app_host_set(struct app_host *host, const char *option, const char *value);
/* load() and thread_begin(). false: host->err. */
bool app_host_load(struct app_host *host, int processes, int threads);
/* thread_end() and unload(), and frees. */
void app_host_close(struct app_host *host);

/* Makes an empty answer of a client that stays. */
void answer_init(struct answer *answer);
void answer_clear(struct answer *answer);
/* Runs one request on the given thread of the plugin; request->vars are "NAME=value" texts, ended
 * by NULL. body_in_file: the body is spooled. */
struct ask {
    const char *const *vars;
    const char *body; /* NULL: none */
    bool body_in_file, chunked;
};
void app_host_ask(struct app_host *host, void *thread, const struct ask *ask,
                  struct answer *answer);
/* Lines that the plugin logged through its context since the last call; lent until the next one. */
const char *app_host_log(void);

#endif
