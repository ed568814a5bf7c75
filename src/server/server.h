/* One worker's server: its loop, its connections and its app threads. Made after the fork, in the
 * worker; everything but cc_server_stop() is called on the worker's main thread. SIGPIPE must be
 * ignored: sendfile(2) cannot be told to raise none. */
#ifndef CC_SERVER_SERVER_H
#define CC_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/app.h"
#include "server/listener.h"
#include "server/lobby.h"
#include "stats/scoreboard.h"

struct cc_server;
struct ev_loop;

/* Lent for the life of the server. */
struct cc_server_setup {
    const struct cc_server_settings *settings;
    const struct cc_listeners *listeners;
    const struct cc_app *app;
    void *app_state; /* what load() returned; NULL: no app, every request is answered 500 */
    struct cc_scoreboard *board;
    const struct cc_lobby *lobby; /* of the generation; may be NULL */
    int worker;                   /* its number, for the log; counts from 1 */
    int row;                      /* of the board */
    bool access_log;
    int64_t max_requests; /* 0: any number; after so many worn_out() is called, once */
    /* On whichever thread answered that request; writes and returns. The server goes on. */
    void (*worn_out)(void *data);
    void *data;
};

struct cc_server *cc_server_new(const struct cc_server_setup *setup);
/* The loop, for the owner's own watchers. Their callbacks may run on any of the server's threads,
 * one at a time, and must neither block nor call into the app. */
struct ev_loop *cc_server_loop(struct cc_server *server);
/* Serves until it is stopped and every accepted request is answered. */
void cc_server_run(struct cc_server *server);
/* Who accepts after this server has stopped. */
enum cc_successor {
    CC_SUCCESSOR_WORKER,     /* another of the same generation: what waits is left to it */
    CC_SUCCESSOR_GENERATION, /* another generation: what waits in the lobby is accepted first */
    CC_SUCCESSOR_NONE,       /* nobody, and the sockets will be closed: so is all that waits */
};

/* Stops accepting, finishes what was accepted, and closes connections when they have been idle for
 * a moment. Without a successor health-path says 503 from now on, and the stop begins stop-delay
 * later. From a watcher's callback of the loop; calling it again is harmless. */
void cc_server_stop(struct cc_server *server, enum cc_successor successor);
/* Stops accepting, and begins again; what was accepted is served all the time. From a watcher's
 * callback of the loop. */
void cc_server_pause(struct cc_server *server, bool on);
/* After cc_server_run(). */
void cc_server_free(struct cc_server *server);

#endif
