/* A listening socket that shall take no new connections, while what waits in its queue is kept. */
#ifndef CC_SERVER_LISTENER_SHUT_H
#define CC_SERVER_LISTENER_SHUT_H

#include <stdbool.h>

#include "server/listener.h"

/* For all processes that share the socket, and for good; doing it again is harmless. Any thread.
 * false: it stays open, as one that another program opened and keeps (fd://) must. */
bool cc_listener_shut(const struct cc_listener *listener);

#endif
