/* Sockets that a service manager opened and passes to us (LISTEN_FDS, sd_listen_fds(3)). */
#ifndef CC_SYSTEM_ACTIVATION_H
#define CC_SYSTEM_ACTIVATION_H

#include <stddef.h>

#include "config/problems.h"
#include "config/settings.h"

struct cc_passed {
    int fd;
    char *name;    /* of LISTEN_FDNAMES, "" without; owned */
    char *address; /* "fd://3", for messages; owned */
};

/* All zero: none. Owned by the start; the descriptors belong to whoever listens on them. */
struct cc_activation {
    struct cc_passed *items;
    size_t count;
};

/* Finds them and takes their variables out of the environment. In the process that was started,
 * before anything is forked; a LISTEN_PID of another process means none. */
void cc_activation_take(struct cc_activation *activation);
/* Says which socket of the settings is one of them: fd://3 by number, fd://web by name (one name
 * may mean several: the setting is repeated), and an address by being the one that the socket is
 * bound to. The rest become sockets of their own with the protocol of the option socket, as in
 * uWSGI. A name that nobody passed, or what is no listening stream socket, is an error in problems.
 * activation outlives the settings. */
void cc_activation_assign(const struct cc_activation *activation,
                          struct cc_server_settings *settings, struct cc_problems *problems);
void cc_activation_clear(struct cc_activation *activation);

#endif
