/* Where all Python threads stand, told without the GIL. */
#ifndef CC_PYTHON_DUMP_H
#define CC_PYTHON_DUMP_H

/* With the GIL, before the app is imported, so that an import that hangs can be looked at too. What
 * it forks has it as well. Not having it costs only the stacks, so it does not fail. */
void cc_dump_register(void);
/* Writes each Python thread's stack to fd. In a signal handler, on any thread, also while there is
 * no interpreter, or none any more. */
void cc_dump_stacks(int fd);

#endif
