/* The CPU time of a server: a process and everything below it. */
#ifndef CC_BENCH_TREE_CPU_H
#define CC_BENCH_TREE_CPU_H

#include <sys/types.h>

/* Seconds of user and system time that root, its living descendants and their reaped children have
 * used so far (the clock ticks of /proc: 10 ms each). */
double cc_tree_cpu(pid_t root);

#endif
