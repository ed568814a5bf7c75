/* Going into the background. The process that was started waits until the server works, shows what
 * went wrong otherwise, and ends with the same code. Of the process. One thread. */
#ifndef CC_SYSTEM_DAEMON_H
#define CC_SYSTEM_DAEMON_H

#include <stdbool.h>

#include "base/err.h"

enum cc_daemon_side {
    CC_DAEMON_CHILD,  /* the server goes on here, in a session of its own */
    CC_DAEMON_PARENT, /* the server works, or has ended: end with *code */
    CC_DAEMON_FAILED, /* err says why */
};

/* Forks. In the parent: waits for cc_daemon_ready() or the child's end, passes SIGINT and SIGTERM
 * on to it meanwhile, and prints what the child has appended to log (a path) when it fails. Signals
 * that stop are blocked before and after. */
enum cc_daemon_side cc_daemon_begin(const char *log, int *code, struct cc_err *err);
/* Was begun in this process? */
bool cc_daemon_running(void);
/* Lets the waiting process end with code 0; further calls do nothing. */
void cc_daemon_ready(void);
/* In a child of the server, which is not the one waited for. */
void cc_daemon_forget(void);

#endif
