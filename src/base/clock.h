/* Time that never jumps. */
#ifndef CC_BASE_CLOCK_H
#define CC_BASE_CLOCK_H

#include <stdint.h>

#define CC_SECOND_NS      INT64_C(1000000000)
#define CC_MILLISECOND_NS INT64_C(1000000)

/* Nanoseconds since some fixed moment (CLOCK_MONOTONIC: comparable between processes). */
int64_t cc_clock_ns(void);

#endif
