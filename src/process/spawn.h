/* fork(), with what every child of ours needs: clean signals, and not to outlive its parent. */
#ifndef CC_PROCESS_SPAWN_H
#define CC_PROCESS_SPAWN_H

#include <sys/types.h>

/* As fork(2): the child's pid, 0 in the child, -1 with errno set. The child is killed when the
 * calling thread (its parent's main thread) ends; its signals are as cc_signals_default() has them,
 * and no signal can reach it before that. stdio is flushed. name: what ps -o comm shows. */
pid_t cc_spawn(const char *name);

/* "was killed by SIGKILL", "exited with code 3", for a status of waitpid(). text: size bytes. */
const char *cc_spawn_fate(int status, char *text, int size);

#endif
