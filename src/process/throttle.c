/* See throttle.h. */
#include "process/throttle.h"

#include "base/clock.h"

#define LONGEST_S     30
#define QUICK_ALLOWED 5

static int delay_of_failures(unsigned failed)
{
    if (failed <= 1)
        return 0;
    if (failed >= 7)
        return LONGEST_S;
    int delay = 1 << (failed - 2);
    return delay < LONGEST_S ? delay : LONGEST_S;
}

int cc_throttle_delay(struct cc_throttle *throttle, bool ready, int64_t lived_ns)
{
    if (!ready) {
        throttle->quick = 0;
        return delay_of_failures(++throttle->failed);
    }
    throttle->failed = 0;
    if (lived_ns >= CC_SECOND_NS) {
        throttle->quick = 0;
        return 0;
    }
    if (++throttle->quick <= QUICK_ALLOWED)
        return 0;
    return delay_of_failures(throttle->quick - QUICK_ALLOWED + 1);
}
