/* A listening unix socket: its file has its owner and mode before anybody can connect. */
#ifndef CC_SERVER_UNIX_SOCKET_H
#define CC_SERVER_UNIX_SOCKET_H

#include <stdbool.h>

#include "base/address.h"
#include "base/err.h"
#include "config/settings.h"

/* Binds and listens, non-blocking and close-on-exec, with the settings' backlog, mode and owner. A
 * socket's file that a killed server left behind is replaced; one that somebody listens on, and
 * what is no socket, is not. In the master, while it has one thread (the umask is changed for a
 * moment). false: err says why not, *fd may be open all the same. */
bool cc_unix_socket_open(const struct cc_address *address,
                         const struct cc_server_settings *settings, int *fd, struct cc_err *err);

#endif
