/* See deadlines.h. */
#include "server/deadlines.h"

void cc_deadlines_init(struct cc_deadlines *deadlines, int64_t shortest)
{
    deadlines->furthest =
        shortest < CC_DEADLINE_BUCKETS - 1 ? (uint32_t)shortest + 1 : CC_DEADLINE_BUCKETS - 1;
    for (int i = 0; i < CC_DEADLINE_BUCKETS; i++)
        cc_link_init(&deadlines->buckets[i]);
    atomic_init(&deadlines->now, 1);
}

void cc_due_init(struct cc_due *due)
{
    cc_link_init(&due->link);
    due->bucket_tick = 0;
    atomic_init(&due->deadline_tick, 0);
}

static uint32_t now_of(const struct cc_deadlines *deadlines)
{
    return atomic_load_explicit(&deadlines->now, memory_order_relaxed);
}

/* One tick more: a second that has half passed does not count. */
static uint32_t tick_after(const struct cc_deadlines *deadlines, int64_t seconds)
{
    return now_of(deadlines) + (uint32_t)seconds + 1;
}

static void put(struct cc_deadlines *deadlines, struct cc_due *due, uint32_t tick)
{
    uint32_t furthest = now_of(deadlines) + deadlines->furthest;

    if (tick > furthest)
        tick = furthest;
    cc_link_remove(&due->link);
    due->bucket_tick = tick;
    cc_link_add(&deadlines->buckets[tick % CC_DEADLINE_BUCKETS], &due->link);
}

void cc_deadlines_set(struct cc_deadlines *deadlines, struct cc_due *due, int64_t seconds)
{
    uint32_t tick = tick_after(deadlines, seconds);

    atomic_store_explicit(&due->deadline_tick, tick, memory_order_relaxed);
    if (cc_link_alone(&due->link) || tick < due->bucket_tick)
        put(deadlines, due, tick);
}

void cc_deadlines_prolong(struct cc_deadlines *deadlines, struct cc_due *due, int64_t seconds)
{
    atomic_store_explicit(&due->deadline_tick, tick_after(deadlines, seconds),
                          memory_order_relaxed);
}

void cc_deadlines_remove(struct cc_due *due)
{
    cc_link_remove(&due->link);
    atomic_store_explicit(&due->deadline_tick, 0, memory_order_relaxed);
}

void cc_deadlines_tick(struct cc_deadlines *deadlines, void (*expired)(struct cc_due *due))
{
    uint32_t now = now_of(deadlines) + 1;
    struct cc_link *bucket = &deadlines->buckets[now % CC_DEADLINE_BUCKETS];
    struct cc_link due_now;

    atomic_store_explicit(&deadlines->now, now, memory_order_relaxed);
    if (cc_link_alone(bucket))
        return;
    /* Taken out as a whole first, since entries may come back to this very bucket. */
    due_now = *bucket;
    due_now.next->prev = due_now.prev->next = &due_now;
    cc_link_init(bucket);
    while (!cc_link_alone(&due_now)) {
        struct cc_due *due = CC_CONTAINER(due_now.next, struct cc_due, link);
        uint32_t tick = atomic_load_explicit(&due->deadline_tick, memory_order_relaxed);

        cc_link_remove(&due->link);
        if (tick > now)
            put(deadlines, due, tick);
        else if (tick != 0)
            expired(due);
    }
}
