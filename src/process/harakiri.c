/* See harakiri.h. */
#include "process/harakiri.h"

#include <string.h>

#include "base/clock.h"
#include "log/log.h"
#include "process/worker_entry.h"

struct cc_running cc_harakiri_oldest(const struct cc_scoreboard *board, int row)
{
    struct cc_running oldest = {0};

    for (int thread = 0; thread < board->threads; thread++) {
        struct cc_slot *slot = cc_scoreboard_slot(board, row, thread);
        int64_t since = atomic_load_explicit(&slot->started_ns, memory_order_acquire);
        if (since == 0 || (oldest.since_ns != 0 && since >= oldest.since_ns))
            continue;
        oldest.since_ns = since;
        memcpy(oldest.what, slot->method_uri, sizeof oldest.what);
        oldest.what[sizeof oldest.what - 1] = '\0';
    }
    /* A peer chose these bytes. */
    for (char *at = oldest.what; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '?';
    return oldest;
}

static int64_t limit_ns(const struct cc_worker_entry *entry)
{
    return entry->all->launch->settings->process.harakiri * CC_SECOND_NS;
}

void cc_harakiri_check(struct cc_worker_entry *entry, int64_t now)
{
    if (entry->state == CC_ENTRY_FREE || entry->explained || limit_ns(entry) == 0)
        return;
    struct cc_running running = cc_harakiri_oldest(entry->all->board, entry->row);
    if (running.since_ns == 0 || now - running.since_ns < limit_ns(entry))
        return;
    cc_log(CC_LOG_WARN,
           "harakiri: worker %d (pid %d) is killed: %s has run for %d seconds (the limit is %d)",
           entry->seat->number, (int)entry->pid, running.what,
           (int)((now - running.since_ns) / CC_SECOND_NS), (int)(limit_ns(entry) / CC_SECOND_NS));
    cc_entry_kill(entry);
}

int64_t cc_harakiri_wake(const struct cc_worker_entry *entry, int64_t now)
{
    if (entry->state == CC_ENTRY_FREE || entry->explained || limit_ns(entry) == 0)
        return INT64_MAX;
    /* A request that begins after this look is seen by the next. */
    int64_t since = cc_harakiri_oldest(entry->all->board, entry->row).since_ns;
    int64_t deadline = since == 0 ? INT64_MAX : since + limit_ns(entry);
    return deadline < now + CC_SECOND_NS ? deadline : now + CC_SECOND_NS;
}
