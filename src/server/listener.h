/* Listening sockets: opened by the master, inherited by every worker, closed at the end. */
#ifndef CC_SERVER_LISTENER_H
#define CC_SERVER_LISTENER_H

#include "base/address.h"
#include "config/problems.h"
#include "config/settings.h"
#include "plugin/loader.h"
#include "plugin/protocol.h"

struct cc_listener {
    int fd;
    const struct cc_socket_setting *setting;
    struct cc_address address;
    const struct cc_protocol *protocol;
    const void *protocol_settings;
    char server_name[256], server_port[8]; /* for SERVER_NAME and SERVER_PORT */
    /* A unix socket's file, so that it is known again: absolute path (owned) and identity. */
    char *file;
    dev_t file_device;
    ino_t file_number;
    int passed;   /* the descriptor that we were given it as; 0: we opened it */
    bool kept;    /* it was open before this configuration was read (kept.h) */
    bool claimed; /* a later configuration keeps it */
};

struct cc_listeners {
    struct cc_listener *items;
    size_t count;
};

/* Opens all of settings->sockets, non-blocking and close-on-exec. What cannot be opened goes to
 * problems, one error each with its place; the rest is open all the same. before: at a reload the
 * sockets that are open now, of which those with the same address are kept; NULL: none. */
void cc_listeners_open(struct cc_listeners *listeners, const struct cc_server_settings *settings,
                       const struct cc_plugins *plugins, struct cc_listeners *before,
                       struct cc_problems *problems);
/* Removes the unix sockets' files (vacuum); says in the log which it could not. Touches nothing
 * else, so that a thread may call it while others serve. */
void cc_listeners_unlink(const struct cc_listeners *listeners);
/* Closes them; unlink: and removes the unix sockets' files. */
void cc_listeners_close(struct cc_listeners *listeners, bool unlink);

#endif
