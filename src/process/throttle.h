/* How long to wait before a dead process is started again, so that one that cannot live does not
 * eat the machine. All zero: nothing has died yet. */
#ifndef CC_PROCESS_THROTTLE_H
#define CC_PROCESS_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

struct cc_throttle {
    unsigned failed; /* deaths in a row before it was ready */
    unsigned quick;  /* deaths in a row soon after it was ready */
};

/* Says what a death means: the delay in seconds until the next start. ready: it had come to serve;
 * lived_ns: since its start. One that never became ready waits 0, 1, 2, 4, ... 30 seconds: its
 * start is what is broken. One that served is killed by requests or by hand, and other clients want
 * it back: at once, and only after five such deaths each within a second 1, 2, 4, ... 30 seconds.
 */
int cc_throttle_delay(struct cc_throttle *throttle, bool ready, int64_t lived_ns);

#endif
