/* Fills the handover from the state of the master. Master's thread. */
#ifndef CC_PROCESS_HAND_OVER_H
#define CC_PROCESS_HAND_OVER_H

#include "handover/handover.h"

struct cc_master;
struct cc_upgrade;

struct cc_hand_over {
    struct cc_handover handover;
    char **argv; /* the command line of the start; lent */
    int folder;  /* that it was started in; lent */
};

/* false: err says why there can be none. */
bool cc_hand_over_fill(struct cc_hand_over *given, const struct cc_upgrade *upgrade,
                       const struct cc_master *master, bool trial, struct cc_err *err);
void cc_hand_over_clear(struct cc_hand_over *given);

#endif
