/* The master: starts generations and keeps one alive, reloads, stops. Never runs app code. */
#ifndef CC_PROCESS_MASTER_H
#define CC_PROCESS_MASTER_H

#include "handover/handover.h"
#include "process/process.h"
#include "system/pidfile.h"

struct cc_master_setup {
    /* Becomes the one that counts at the end (a reload releases the one before), and in a child its
     * own. */
    struct cc_launch **launch;
    void (*in_child)(
        void *data); /* called first in each, to let go of what only the master needs */
    void *data;
    const struct cc_pidfile *pidfile, *pidfile2; /* for an upgrade; lent */
    /* What the old binary of an upgrade left, or NULL; lent. And its sockets; the master's. */
    const struct cc_handover *handover;
    struct cc_listeners *handed;
};

/* Serves until it is told to stop, with no child left. Returns the exit code; in each forked child
 * too, at that child's end. */
int cc_master_run(const struct cc_master_setup *setup);

#endif
