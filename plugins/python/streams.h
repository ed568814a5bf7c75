/* Files that a fork may leave locked. */
#ifndef CC_PYTHON_STREAMS_H
#define CC_PYTHON_STREAMS_H

/* In a child that was forked while the app had threads: makes sys.stdout, sys.stderr, and the files
 * and queues of logging's handlers usable again. With the GIL; the only thread. */
void cc_streams_after_fork(void);

#endif
