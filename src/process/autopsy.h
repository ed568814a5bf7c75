/* What the log gets of a worker's insides: the report of its stacks that it wrote itself, and what
 * /proc says where it wrote none. */
#ifndef CC_PROCESS_AUTOPSY_H
#define CC_PROCESS_AUTOPSY_H

#include <stdbool.h>
#include <sys/types.h>

struct cc_worker_entry;

/* Is the process stopped by a signal or a tracer? */
bool cc_autopsy_frozen(pid_t pid);
/* Logs the report that it was asked for. Never nothing: where it has not answered, what can be seen
 * from outside; with harakiri-verbose that, and its open files, in any case. */
void cc_autopsy_report(struct cc_worker_entry *entry);
/* It has died: logs what it may have written before. */
void cc_autopsy_dead(struct cc_worker_entry *entry);

#endif
