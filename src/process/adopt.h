/* The new binary's side of an upgrade: what the old one handed over becomes the master's own.
 * Master's thread. */
#ifndef CC_PROCESS_ADOPT_H
#define CC_PROCESS_ADOPT_H

#include "handover/handover.h"
#include "process/generations.h"
#include "server/listener.h"

/* Can this binary live with what the old one leaves? false: err says what is in the way. */
bool cc_adopt_possible(const struct cc_handover *handover, struct cc_err *err);
/* The generations with their workers. One whose scoreboard cannot be mapped is killed. */
void cc_adopt_generations(struct cc_generations *all, const struct cc_handover *handover);
/* The sockets, for cc_listeners_open() to choose from. Give it to cc_adopt_free_listeners(). */
struct cc_listeners *cc_adopt_listeners(const struct cc_handover *handover);
/* NULL is fine. Closes the descriptors. */
void cc_adopt_free_listeners(struct cc_listeners *listeners);

#endif
