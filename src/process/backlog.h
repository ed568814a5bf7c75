/* How many clients wait in the listen queues: connected, and not accepted. */
#ifndef CC_PROCESS_BACKLOG_H
#define CC_PROCESS_BACKLOG_H

/* Of one listening socket, TCP or unix; -1: the kernel does not say. */
int cc_backlog_of(int fd);

#endif
