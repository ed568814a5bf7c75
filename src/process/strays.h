/* Children of the master that it does not know by pid: what a generation left behind that was
 * killed between a fork and telling of it, and what the app left behind. */
#ifndef CC_PROCESS_STRAYS_H
#define CC_PROCESS_STRAYS_H

/* Reaps children until none is left that carries a name of ours (those die with their generation,
 * so it is a matter of moments), but for a second at the most: what the app forked has that name
 * too, and may live on. */
void cc_strays_wait(void);

#endif
