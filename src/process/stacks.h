/* Where the threads of a process stand: native stacks and, by the app plugin, those of the app's
 * language. In a process that serves or loads the app: handlers of the signals that crashes raise,
 * and of one more by which its parent asks. Both write a report to a descriptor, ended by
 * CC_STACKS_END on a line of its own; a crash then takes its course (core, status), and whatever
 * handlers the app had set run before. */
#ifndef CC_PROCESS_STACKS_H
#define CC_PROCESS_STACKS_H

#include <sys/types.h>

#include "base/buf.h"
#include "process/app_load.h"

/* The last line of each report. */
#define CC_STACKS_END "-- end of report --"

/* Sets the handlers, in this process and for it alone: in what it forks they do nothing, until that
 * process calls this too. Main thread, before the app is loaded if possible, and after a fork.
 * report_fd: lent for the life of the process, and blocking. held: read at the time of a report,
 * so that an app that is loaded later counts; lent for the life of the process, or NULL. The caller
 * must not give up what the app needs while held->state is set. */
void cc_stacks_arm(int report_fd, const struct cc_app_held *held);
/* Asks the process, which must be a child of the caller's, for a report. One that is not armed yet
 * ignores it. */
void cc_stacks_ask(pid_t pid);
/* What /proc knows of the threads of a process that does not answer: appends a line for each to
 * buf, or why there is none. */
void cc_stacks_from_outside(pid_t pid, struct cc_buf *buf);
/* Makes this process ignore being asked: what a child does before it is armed. */
void cc_stacks_ignore(void);

#endif
