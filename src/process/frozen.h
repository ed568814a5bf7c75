/* A child that SIGSTOP, or whatever else stops a process by a signal, keeps from doing anything.
 * Nothing that it runs shows that: it may have been idle. Whoever forked it looks. (One that a
 * debugger holds is the debugger's, and does not count.) */
#ifndef CC_PROCESS_FROZEN_H
#define CC_PROCESS_FROZEN_H

#include <stdint.h>
#include <sys/types.h>

/* How long it may be stopped before its parent does something about it: people stop processes for
 * a moment to look at them. */
#define CC_FROZEN_PATIENCE_S 10

enum cc_frozen {
    CC_FROZEN_NOT,  /* nothing new */
    CC_FROZEN_SEEN, /* it is stopped, which was not known before */
    CC_FROZEN_LONG, /* it still is, and patience is over */
    CC_FROZEN_OVER, /* it goes on */
};

/* Looks at this process's child. *since_ns: when it was first seen stopped; 0: it was not; kept up
 * to date. */
enum cc_frozen cc_frozen_look(pid_t child, int64_t *since_ns, int64_t now);

#endif
