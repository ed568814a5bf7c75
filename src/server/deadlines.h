/* Deadlines of connections: a wheel of one-second buckets, lazily kept. Moving a deadline (what
 * every request does) is one store; the entry moves when its old bucket comes up, which is never
 * later than the shortest time that a deadline can be moved to. All of it belongs to the loop, but
 * for the deadline itself, which the connection's owner writes. */
#ifndef CC_SERVER_DEADLINES_H
#define CC_SERVER_DEADLINES_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/list.h"

#define CC_DEADLINE_BUCKETS 64

/* Lives in the thing that has the deadline. */
struct cc_due {
    struct cc_link link;            /* in a bucket; alone: not watched */
    uint32_t bucket_tick;           /* when that bucket comes up */
    _Atomic uint32_t deadline_tick; /* 0: none */
};

struct cc_deadlines {
    struct cc_link buckets[CC_DEADLINE_BUCKETS];
    uint32_t furthest;    /* ticks from now to the bucket that an entry is put in at most */
    _Atomic uint32_t now; /* ticks (seconds) that have passed; begins at 1; the loop writes it */
};

/* shortest: no deadline is prolonged by less than so many seconds. */
void cc_deadlines_init(struct cc_deadlines *deadlines, int64_t shortest);
void cc_due_init(struct cc_due *due);
/* Due in so many seconds from now. Loop only. */
void cc_deadlines_set(struct cc_deadlines *deadlines, struct cc_due *due, int64_t seconds);
/* Moves a deadline to so many seconds from now, at least the shortest of cc_deadlines_init(); for
 * the connection's owner, on any thread. */
void cc_deadlines_prolong(struct cc_deadlines *deadlines, struct cc_due *due, int64_t seconds);
void cc_deadlines_remove(struct cc_due *due);
/* One second has passed: calls expired for each that is due (which may remove it, or set it
 * anew). Loop only. */
void cc_deadlines_tick(struct cc_deadlines *deadlines, void (*expired)(struct cc_due *due));

#endif
