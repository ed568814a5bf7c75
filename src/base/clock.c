/* See clock.h. */
#include "base/clock.h"

#include <time.h>

int64_t cc_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * CC_SECOND_NS + now.tv_nsec;
}
