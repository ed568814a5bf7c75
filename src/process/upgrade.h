/* `ccontainer upgrade`: a new binary takes over in this very process. First it is tried: started
 * beside us with what it would be given, it reads the configuration, opens the sockets that are
 * new, closes them again and says that it could. Only then is it executed in the master's place, so
 * that pid, children and sockets stay. Master's thread. */
#ifndef CC_PROCESS_UPGRADE_H
#define CC_PROCESS_UPGRADE_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "system/pidfile.h"

struct cc_control;
struct cc_fifo;
struct cc_master;
struct cc_service;

/* What the trial prints when it has understood everything. */
#define CC_UPGRADE_TRIED "ccontainer upgrade: tried\n"

struct cc_upgrade {
    struct ev_loop *loop;
    /* What is handed over; lent. */
    const struct cc_control *control;
    const struct cc_fifo *fifo;
    struct cc_service *service;
    const struct cc_pidfile *pidfile, *pidfile2;
    pid_t trial; /* 0: none runs */
    int said;    /* memory file with what it prints; -1: none */
    ev_timer limit;
    bool passed; /* the trial did; executed as soon as no reload is under way */
};

/* What processes of both binaries have in common: messages and the scoreboard. The caller frees it.
 */
char *cc_upgrade_layout(void);
void cc_upgrade_begin(struct cc_upgrade *upgrade, struct ev_loop *loop);
/* A child was reaped; true: it was the trial. */
bool cc_upgrade_reaped(struct cc_upgrade *upgrade, struct cc_master *master, pid_t pid, int status);
/* Begins what was asked for, and executes the new binary when it is time; returns where that fails
 * or there is nothing to do. Between two runs of the loop. */
void cc_upgrade_turn(struct cc_upgrade *upgrade, struct cc_master *master);
/* Also in a child, which leaves a trial alone: in_child. */
void cc_upgrade_end(struct cc_upgrade *upgrade, bool in_child);

#endif
