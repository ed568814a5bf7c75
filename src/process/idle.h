/* A generation without workers: "cheap". It keeps the app and watches the sockets; the first client
 * that connects brings the workers back, and waits in the listen queue meanwhile. */
#ifndef CC_PROCESS_IDLE_H
#define CC_PROCESS_IDLE_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cc_workers;

/* Part of struct cc_workers. */
struct cc_idle {
    ev_io *bells; /* one a listening socket; NULL: not cheap */
    size_t n_bells;
    uint64_t requests; /* answered when it was last looked */
    int64_t since_ns;  /* since when there was no request; 0: not looked yet */
    bool said;         /* die-on-idle: the master knows */
};

/* No worker is wanted from here on: those that live finish, and a client brings them back. */
void cc_idle_begin(struct cc_workers *workers);
/* Nobody waits for a client any more; harmless where nobody does. */
void cc_idle_end(struct cc_workers *workers);
/* The bells do not ring, or do again: while the server is paused. */
void cc_idle_mute(struct cc_workers *workers, bool on);
/* Each second: goes there when nothing was asked for idle seconds. */
void cc_idle_look(struct cc_workers *workers, int64_t now);

#endif
