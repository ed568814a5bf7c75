/* Listening sockets over a reload: which of those that are open the new configuration keeps, and
 * what becomes of the others. Each reading of the configuration has descriptors of its own, so a
 * socket lives until the last of them is closed. Master only. */
#ifndef CC_SERVER_KEPT_H
#define CC_SERVER_KEPT_H

#include "server/listener.h"

/* Fills listener->fd (and what is known of its file) with a descriptor of its own for the socket
 * that before has at the same address: the same unix socket's file, inet or abstract address, or
 * number of fd://. Its queue becomes backlog long. false: there is none, or no descriptor left. */
bool cc_kept_take(struct cc_listener *listener, struct cc_listeners *before, int64_t backlog);
/* Notes a unix socket's file, once it is bound. */
void cc_kept_note_file(struct cc_listener *listener);
/* The configuration that opened these is not used after all: closes all, and removes the files of
 * those that it has opened itself. */
void cc_kept_abandon(struct cc_listeners *listeners);
/* after has taken over from before, whose servers do not accept any more: what after does not have
 * is shut, so that clients are refused instead of waiting in its queue; vacuum: and its file is
 * removed. Says so in the log. The descriptors stay before's. */
void cc_kept_retire(const struct cc_listeners *before, const struct cc_listeners *after,
                    bool vacuum);

#endif
