/* See harakiri.h. */
#include "process/harakiri.h"

#include <string.h>

#include "base/clock.h"
#include "base/span.h"
#include "log/log.h"
#include "process/autopsy.h"
#include "process/replace.h"
#include "process/stacks.h"
#include "process/worker_entry.h"

/* How long a worker may take to say where it stands. */
#define REPORT_NS CC_SECOND_NS
/* Between two looks at one that is to be killed, and how many of them must see no other request. */
#define LOOK_NS    (CC_SECOND_NS / 4)
#define QUIET_MANY 4

struct cc_running cc_harakiri_running(const struct cc_slot *slot)
{
    struct cc_running running = {.since_ns = cc_slot_started_ns(slot)};

    if (running.since_ns == 0)
        return running;
    memcpy(running.what, slot->method_uri, sizeof running.what);
    running.what[sizeof running.what - 1] = '\0';
    /* A peer chose these bytes. */
    cc_text_printable(running.what);
    return running;
}

struct cc_running cc_harakiri_oldest(const struct cc_scoreboard *board, int row)
{
    int64_t oldest_ns = INT64_MAX;
    int oldest = -1;

    for (int thread = 0; thread < board->threads; thread++) {
        int64_t since = cc_slot_started_ns(cc_scoreboard_slot(board, row, thread));
        if (since == 0 || since >= oldest_ns)
            continue;
        oldest_ns = since;
        oldest = thread;
    }
    if (oldest < 0)
        return (struct cc_running){0};
    struct cc_running running = cc_harakiri_running(cc_scoreboard_slot(board, row, oldest));
    running.thread = oldest;
    return running;
}

static int64_t limit_ns(const struct cc_worker_entry *entry)
{
    return entry->all->launch->settings->process.harakiri * CC_SECOND_NS;
}

/* How many of its requests are too old, and how many are not. */
static int count_old(const struct cc_worker_entry *entry, int64_t now, int *young)
{
    const struct cc_scoreboard *board = entry->all->board;
    int old = 0;

    *young = 0;
    for (int thread = 0; thread < board->threads; thread++) {
        int64_t since = cc_slot_started_ns(cc_scoreboard_slot(board, entry->row, thread));
        if (since != 0 && now - since >= limit_ns(entry))
            old++;
        else if (since != 0)
            ++*young;
    }
    return old;
}

static void begin_if_too_old(struct cc_worker_entry *entry, int64_t now)
{
    struct cc_running running = cc_harakiri_oldest(entry->all->board, entry->row);

    if (running.since_ns == 0 || now - running.since_ns < limit_ns(entry))
        return;
    cc_log(CC_LOG_WARN,
           "harakiri: worker %d (pid %d): %s has run for %d seconds (the limit is %d) on thread %d",
           entry->seat->number, (int)entry->pid, running.what,
           (int)((now - running.since_ns) / CC_SECOND_NS), (int)(limit_ns(entry) / CC_SECOND_NS),
           running.thread);
    entry->harakiri.stage = CC_HARAKIRI_ASKED;
    entry->harakiri.next_ns = now + REPORT_NS;
    cc_report_read(&entry->report);
    cc_report_reset(&entry->report);
    cc_stacks_ask(entry->pid);
}

static void end_it(struct cc_worker_entry *entry, const char *why)
{
    cc_log(CC_LOG_WARN, "harakiri: worker %d (pid %d) is killed: %s", entry->seat->number,
           (int)entry->pid, why);
    cc_entry_kill(entry);
}

static void report(struct cc_worker_entry *entry, int64_t now)
{
    bool frozen = !cc_report_done(&entry->report) && cc_autopsy_frozen(entry->pid);

    cc_autopsy_report(entry);
    entry->harakiri.stage = CC_HARAKIRI_REPORTED;
    entry->harakiri.reported_ns = entry->harakiri.next_ns = now;
    if (frozen)
        end_it(entry, "it is stopped, so that none of its requests can end");
    else if (entry->seat->holder == entry)
        cc_replace_ask(entry->seat, CC_REPLACE_HARAKIRI);
}

static void end_if_nothing_else_runs(struct cc_worker_entry *entry, int64_t now)
{
    struct cc_harakiri *harakiri = &entry->harakiri;
    int64_t mercy_ns = entry->all->launch->settings->life.mercy * CC_SECOND_NS;
    int young, old = count_old(entry, now, &young);

    harakiri->next_ns = now + LOOK_NS;
    harakiri->quiet = young == 0 ? harakiri->quiet + 1 : 0;
    if (old == 0)
        return; /* it has ended after all: the worker finishes as any that is replaced */
    if (old == entry->all->board->threads)
        end_it(entry, "all of its threads run requests that are too old");
    else if (entry->state == CC_ENTRY_STOPPING && harakiri->quiet >= QUIET_MANY)
        end_it(entry, "its other requests have ended");
    else if (now - harakiri->reported_ns >= mercy_ns)
        end_it(entry, "worker-reload-mercy is over");
}

void cc_harakiri_check(struct cc_worker_entry *entry, int64_t now)
{
    if (entry->state == CC_ENTRY_FREE || entry->explained || limit_ns(entry) == 0)
        return;
    switch (entry->harakiri.stage) {
    case CC_HARAKIRI_NOT:
        begin_if_too_old(entry, now);
        break;
    case CC_HARAKIRI_ASKED:
        if (cc_report_done(&entry->report) || now >= entry->harakiri.next_ns)
            report(entry, now);
        break;
    case CC_HARAKIRI_REPORTED:
        if (now >= entry->harakiri.next_ns)
            end_if_nothing_else_runs(entry, now);
        break;
    }
}

int64_t cc_harakiri_wake(const struct cc_worker_entry *entry, int64_t now)
{
    if (entry->state == CC_ENTRY_FREE || entry->explained || limit_ns(entry) == 0)
        return INT64_MAX;
    if (entry->harakiri.stage == CC_HARAKIRI_ASKED && cc_report_done(&entry->report))
        return now;
    if (entry->harakiri.stage != CC_HARAKIRI_NOT)
        return entry->harakiri.next_ns;
    /* A request that begins after this look is seen by the next. */
    int64_t since = cc_harakiri_oldest(entry->all->board, entry->row).since_ns;
    int64_t deadline = since == 0 ? INT64_MAX : since + limit_ns(entry);
    return deadline < now + CC_SECOND_NS ? deadline : now + CC_SECOND_NS;
}
