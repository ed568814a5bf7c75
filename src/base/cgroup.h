/* What this process may use of the machine: processors and memory, as its container or service
 * limits them (control groups version 2 and 1, processor affinity). */
#ifndef CC_BASE_CGROUP_H
#define CC_BASE_CGROUP_H

#include <stdint.h>

struct cc_cgroup {
    double cpus;    /* as a quota: 1.5 is one and a half processors' time; 0: no quota */
    int64_t memory; /* bytes; 0: no limit */
};

/* The strictest limits from this process's group up to the root. root: "" for the system's own, or
 * a folder with a proc/ and sys/ of its own (tests). What cannot be read is no limit. */
struct cc_cgroup cc_cgroup_read(const char *root);
/* How many processors this process may run on; at least 1. */
int cc_cgroup_affinity(void);
/* How many processes keep busy what may be used: the affinity, or the quota rounded up where that
 * is less; at least 1. */
int cc_cgroup_processes(const struct cc_cgroup *limits, int affinity);

#endif
