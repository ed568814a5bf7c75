/* Limits of a worker's life that its parent looks after: its age and its memory, which it reads
 * from /proc and does not ask the worker for. */
#ifndef CC_PROCESS_LIFE_H
#define CC_PROCESS_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/settings.h"

struct cc_worker_entry;

/* A process's size in bytes, as /proc/PID/statm has it. */
struct cc_size {
    int64_t address_space, resident;
};

/* false: it is gone, or /proc is. */
bool cc_life_size(pid_t pid, struct cc_size *size);
/* Is there anything to look at each second? */
bool cc_life_limited(const struct cc_life_settings *life);
/* Each second: has the process replaced, or kills it, as the limits ask. */
void cc_life_look(struct cc_worker_entry *entry, int64_t now);

#endif
