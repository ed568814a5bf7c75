/* Tells the service manager (systemd and what speaks its protocol, sd_notify(3)) how we are. Of the
 * process: only the master, or the only process, says anything. One thread at a time.
 *
 * Our own, and not libsystemd's: the socket has to be opened before a chroot, and its name must be
 * gone from the environment before the app's threads may read that. */
#ifndef CC_SYSTEM_NOTIFY_H
#define CC_SYSTEM_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/* Connects to NOTIFY_SOCKET, if there is one, and takes it and the watchdog's variables out of the
 * environment. Before anything is forked and before the root folder changes. handed: a descriptor
 * that is connected already, as after an upgrade, or -1. */
void cc_notify_begin(int handed);
/* Is anybody told? */
bool cc_notify_wanted(void);
/* How often "WATCHDOG=1" must be said, in nanoseconds: half of what the manager waits. 0: it does
 * not watch us. */
int64_t cc_notify_watchdog_ns(void);
/* Lines "NAME=value" with newlines between. Never blocks for longer than a second; what cannot be
 * said is a warning in the log, once. */
void cc_notify(const char *state);
/* Closes it, in a child that has nothing to say and at the end. */
void cc_notify_end(void);
/* Before this process executes another binary: the environment as it was before begin. */
void cc_notify_hand_on(void);
/* It did not execute it after all. */
void cc_notify_take_back(void);
/* The descriptor that reaches the manager; -1: none. */
int cc_notify_fd(void);

#endif
