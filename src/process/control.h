/* Where `ccontainer reload`, `upgrade`, `stop` and `status` reach the master: an abstract unix
 * socket whose name is the master's pid. Root and the users that the master runs as may give
 * orders, nobody else; what they send is a word, and what they get is a line that begins with the
 * exit code. Master's thread. */
#ifndef CC_PROCESS_CONTROL_H
#define CC_PROCESS_CONTROL_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "handover/handover.h"

#define CC_CONTROL_CLIENTS 16
#define CC_CONTROL_WORD    32 /* bytes that a word may have */
#define CC_CONTROL_REPLY   ((size_t)32768)

struct cc_master;
struct cc_control;

struct cc_control_client {
    struct cc_control *control;
    ev_io io;           /* its data: this; fd -1: free */
    unsigned reload;    /* the reload whose end it waits for; 0: none */
    unsigned upgrade;   /* the upgrade whose failure it waits for; 0: none */
    bool until_the_end; /* it waits until this process is gone */
    uint64_t order;     /* who came when */
};

struct cc_control {
    struct ev_loop *loop;
    ev_io io; /* accepts; fd -1: none */
    struct cc_control_client clients[CC_CONTROL_CLIENTS];
    uint64_t arrivals;
};

/* Fills the address of the master with that pid. Returns its length. */
socklen_t cc_control_address(struct sockaddr_un *address, int32_t pid);
/* loop: its user data is the master. Without a socket (the log says why) all else goes on. */
void cc_control_begin(struct cc_control *control, struct ev_loop *loop);
/* The same with what the old binary had: its clients get the outcome of the first reload. */
void cc_control_adopt(struct cc_control *control, struct ev_loop *loop,
                      const struct cc_handover *handover);
/* Answers those whose reload is over; after each turn of the loop. */
void cc_control_update(struct cc_control *control, const struct cc_master *master);
/* Closes all; those that wait for the end are answered by that. */
void cc_control_end(struct cc_control *control);

#endif
