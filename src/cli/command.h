/* ccontainer reload|upgrade|stop|status INI|PIDFILE: speaks to a server that runs. */
#ifndef CC_CLI_COMMAND_H
#define CC_CLI_COMMAND_H

#include <stdbool.h>

/* Exit codes of the commands; docs/operations.md lists them. 3 and 4 are those of init scripts. */
enum cc_command_exit {
    CC_COMMAND_DONE = 0,
    CC_COMMAND_FAILED = 1, /* the server could not do it, and goes on as before */
    CC_COMMAND_USAGE = 2,
    CC_COMMAND_NOT_RUNNING = 3, /* there is no such server */
    CC_COMMAND_NO_ANSWER = 4,   /* it may run, but cannot be asked */
};

/* Is the first argument one of the commands? */
bool cc_command_is(char **argv);
/* Does it and waits for its end: until the new generation serves, until the server is gone. Returns
 * the exit code; what there is to say goes to standard output, what went wrong to standard error.
 */
int cc_command_run(char **argv);

#endif
