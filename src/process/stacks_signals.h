/* The signals that reports on stacks take for themselves: real-time ones, counted from the end
 * because runtimes and libraries count from the start. The Python plugin has SIGRTMAX - 2. */
#ifndef CC_PROCESS_STACKS_SIGNALS_H
#define CC_PROCESS_STACKS_SIGNALS_H

#include <signal.h>

#define CC_SIGNAL_ASK  (SIGRTMAX - 4) /* from the parent: report */
#define CC_SIGNAL_TELL (SIGRTMAX - 3) /* from one thread to another: where are you? */

#endif
