/* Where connections wait when all threads of all workers are busy and a health path is set: without
 * it the listen queue would do, but a health check in it would wait as well. A worker that has been
 * busy for a moment accepts what waits there, answers the health checks, and puts the rest into the
 * lobby, a socket pair that all workers of a generation share: the first that has a thread free
 * takes them from it. */
#ifndef CC_SERVER_LOBBY_H
#define CC_SERVER_LOBBY_H

#include <ev.h>
#include <stdbool.h>

struct cc_server;
struct cc_listener;

/* Opened before the workers are forked, closed by nobody but their end. */
struct cc_lobby {
    int put, take; /* -1: there is none */
};

/* wanted: a health path is set. false with errno set: no descriptors; there is none then. */
bool cc_lobby_open(struct cc_lobby *lobby, bool wanted);
void cc_lobby_close(struct cc_lobby *lobby);

/* One worker's side. Loop, as are all of these. */
struct cc_lobby_keeper {
    const struct cc_lobby *lobby;
    struct cc_server *server;
    ev_io taking;     /* armed like the listening sockets */
    ev_timer looking; /* runs while the worker is busy */
    bool empty;       /* as acceptor.empty */
};

void cc_lobby_begin(struct cc_lobby_keeper *keeper, struct cc_server *server);
void cc_lobby_end(struct cc_lobby_keeper *keeper);
/* The worker accepts, or is too busy to. */
void cc_lobby_accepting(struct cc_lobby_keeper *keeper, bool on);
void cc_lobby_busy(struct cc_lobby_keeper *keeper);
/* Takes one connection from the lobby; false: there is none. */
bool cc_lobby_take(struct cc_lobby_keeper *keeper);

#endif
