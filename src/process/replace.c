/* See replace.h. */
#include "process/replace.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "log/log.h"
#include "process/obituary.h"
#include "process/worker_entry.h"

/* However often an app asks for its own replacement. */
#define APP_ASKS_EVERY_NS CC_SECOND_NS

const char *cc_replace_text(enum cc_replace_why why)
{
    switch (why) {
    case CC_REPLACE_MAX_REQUESTS:
        return "max-requests";
    case CC_REPLACE_APP:
        return "the app asked for it";
    case CC_REPLACE_LIFETIME:
        return "max-worker-lifetime";
    case CC_REPLACE_RSS:
        return "reload-on-rss";
    case CC_REPLACE_AS:
        return "reload-on-as";
    case CC_REPLACE_HARAKIRI:
        return "harakiri";
    case CC_REPLACE_FROZEN:
        return "it is stopped by a signal";
    case CC_REPLACE_RECYCLE:
        return "reload of all workers";
    case CC_REPLACE_CHAIN:
        return "chain reload";
    case CC_REPLACE_NOT:
        break;
    }
    return "not needed";
}

/* When it may happen, for a process that began then. */
static int64_t earliest(const struct cc_seat *seat, enum cc_replace_why why)
{
    int64_t began_ns = seat->holder->started_ns;

    if (why == CC_REPLACE_APP)
        return began_ns + APP_ASKS_EVERY_NS;
    if (why == CC_REPLACE_MAX_REQUESTS || why == CC_REPLACE_RSS || why == CC_REPLACE_AS)
        return began_ns + seat->all->launch->settings->life.min_lifetime * CC_SECOND_NS;
    return began_ns;
}

void cc_replace_ask(struct cc_seat *seat, enum cc_replace_why why)
{
    if (seat->all->stopping || seat->holder == NULL)
        return;
    int64_t when = earliest(seat, why);

    if (seat->why != CC_REPLACE_NOT && seat->replace_ns <= when)
        return;
    seat->why = why;
    seat->replace_ns = when;
}

/* The chain goes on with the next seat that somebody sits in. */
static void chain_from(struct cc_workers *workers, int number)
{
    for (; number <= workers->n_seats; number++) {
        struct cc_seat *seat = &workers->seats[number - 1];
        if (seat->holder == NULL || !seat->wanted)
            continue;
        workers->chain = number;
        seat->why = CC_REPLACE_NOT; /* whatever it was, this is as good */
        cc_replace_ask(seat, CC_REPLACE_CHAIN);
        return;
    }
    workers->chain = 0;
    cc_log(CC_LOG_INFO, "chain reload: all workers are replaced");
}

void cc_replace_all(struct cc_workers *workers, enum cc_replace_why why)
{
    if (workers->stopping)
        return;
    if (why == CC_REPLACE_CHAIN) {
        cc_log(CC_LOG_INFO, "chain reload: workers are replaced one after another");
        chain_from(workers, 1);
        return;
    }
    workers->chain = 0;
    cc_log(CC_LOG_INFO, "all workers are replaced");
    for (int i = 0; i < workers->n_seats; i++) {
        struct cc_seat *seat = &workers->seats[i];
        seat->why = CC_REPLACE_NOT;
        cc_replace_ask(seat, why);
    }
}

bool cc_replace_wants(const struct cc_seat *seat, int64_t now, int64_t *when)
{
    *when = INT64_MAX;
    if (seat->all->stopping || !seat->wanted || seat->n_entries >= CC_ENTRIES_A_SEAT)
        return false; /* the end of one of them is the event to wait for */
    if (seat->holder == NULL) {
        *when = seat->due_ns;
    } else if (seat->why != CC_REPLACE_NOT && seat->next == NULL) {
        *when = seat->replace_ns > seat->due_ns ? seat->replace_ns : seat->due_ns;
    }
    return *when <= now;
}

void cc_replace_started(struct cc_seat *seat, struct cc_worker_entry *entry)
{
    seat->n_entries++;
    if (seat->holder != NULL) {
        seat->next = entry;
        return;
    }
    seat->holder = entry;
    seat->why = CC_REPLACE_NOT;
}

/* What was ordered once is not tried again by itself: a half-finished deployment would be served by
 * some workers at a moment of our choosing. */
static bool gives_up(struct cc_seat *seat)
{
    if (seat->why != CC_REPLACE_RECYCLE && seat->why != CC_REPLACE_CHAIN)
        return false;
    if (seat->why == CC_REPLACE_CHAIN)
        seat->all->chain = 0;
    seat->why = CC_REPLACE_NOT;
    return true;
}

void cc_replace_cannot_start(struct cc_seat *seat)
{
    int delay = cc_throttle_delay(&seat->throttle, false, 0);
    const char *why = strerror(errno);

    if (delay == 0)
        delay = 1;
    seat->due_ns = cc_clock_ns() + delay * CC_SECOND_NS;
    if (seat->holder == NULL)
        cc_log(CC_LOG_ERROR, "worker %d cannot be started: %s; next try in %d s", seat->number, why,
               delay);
    else
        cc_log(CC_LOG_ERROR,
               "worker %d cannot be replaced (%s): %s; pid %d goes on; next try in %d s",
               seat->number, cc_replace_text(seat->why), why, (int)seat->holder->pid, delay);
}

static void take_over(struct cc_seat *seat)
{
    struct cc_worker_entry *old = seat->holder;

    cc_log(CC_LOG_INFO, "worker %d is replaced (%s): pid %d takes over from pid %d", seat->number,
           cc_replace_text(seat->why), (int)seat->next->pid, (int)old->pid);
    seat->holder = seat->next;
    seat->next = NULL;
    seat->why = CC_REPLACE_NOT;
    cc_entry_stop(old);
}

void cc_replace_tell_served(struct cc_workers *workers)
{
    if (workers->served)
        return;
    for (int i = 0; i < workers->n_seats; i++) {
        const struct cc_seat *seat = &workers->seats[i];
        if (seat->wanted && (seat->holder == NULL || seat->holder->state != CC_ENTRY_SERVING))
            return;
    }
    workers->served = true;
    cc_channel_send(workers->up, (struct cc_message){.kind = CC_MESSAGE_READY});
}

void cc_replace_ready(struct cc_worker_entry *entry)
{
    struct cc_seat *seat = entry->seat;
    struct cc_workers *workers = entry->all;

    if (entry->state != CC_ENTRY_STARTING)
        return;
    entry->state = CC_ENTRY_SERVING;
    entry->was_ready = true;
    seat->throttle.failed = 0;
    if (seat->next == entry)
        take_over(seat);
    if (workers->chain == seat->number)
        chain_from(workers, seat->number + 1);
    cc_replace_tell_served(workers);
}

/* Its seat is for the one that starts beside it, or for one to be started. */
static void leave_seat(struct cc_worker_entry *entry)
{
    struct cc_seat *seat = entry->seat;

    if (seat->next == entry)
        seat->next = NULL;
    if (seat->holder != entry)
        return;
    seat->holder = seat->next;
    seat->next = NULL;
    seat->why = CC_REPLACE_NOT;
}

void cc_replace_leaves(struct cc_worker_entry *entry)
{
    if (entry->state != CC_ENTRY_SERVING)
        return;
    /* Once is fine; one that does so again and again is slowed down as one that dies. */
    int delay = cc_throttle_delay(&entry->seat->throttle, true, cc_clock_ns() - entry->started_ns);

    entry->seat->due_ns = cc_clock_ns() + delay * CC_SECOND_NS;
    leave_seat(entry);
    cc_entry_leaves(entry);
}

void cc_replace_vacate(struct cc_seat *seat)
{
    seat->wanted = false;
    seat->why = CC_REPLACE_NOT;
    if (seat->all->chain == seat->number)
        chain_from(seat->all, seat->number + 1);
    if (seat->next != NULL)
        cc_entry_stop(seat->next);
    if (seat->holder != NULL)
        cc_entry_stop(seat->holder);
    seat->next = seat->holder = NULL;
}

/* Seconds until the seat may be filled again. */
static int delay_after(struct cc_worker_entry *entry, int status)
{
    struct cc_seat *seat = entry->seat;
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == CC_EXIT_OK;

    if (entry->state == CC_ENTRY_STOPPING || (clean && entry->was_ready))
        return 0;
    int delay =
        cc_throttle_delay(&seat->throttle, entry->was_ready, cc_clock_ns() - entry->started_ns);
    /* Somebody serves: there is no hurry. */
    if (seat->next == entry && delay == 0)
        return 1;
    return delay;
}

void cc_replace_ended(struct cc_worker_entry *entry, int status)
{
    struct cc_workers *workers = entry->all;
    struct cc_seat *seat = entry->seat;
    int delay = delay_after(entry, status);
    bool gave_up = seat->next == entry && gives_up(seat);

    /* A crash or exit() of the import is a failure to load as well as an exception is. */
    if (workers->must_load && !workers->served && !workers->stopping && !entry->was_ready &&
        status != 0) {
        workers->app_failed = true;
        cc_workers_stop(workers, CC_SUCCESSOR_GENERATION);
    }
    cc_obituary(entry, status, gave_up ? -1 : delay);
    if (entry->state != CC_ENTRY_STOPPING)
        seat->due_ns = cc_clock_ns() + delay * CC_SECOND_NS;
    leave_seat(entry);
    seat->n_entries--;
    cc_scoreboard_reset_row(workers->board, entry->row, 0);
    cc_channel_send(workers->up, (struct cc_message){.kind = CC_MESSAGE_ENDED,
                                                     .worker = entry->row,
                                                     .pid = (int32_t)entry->pid,
                                                     .status = status});
    cc_entry_clear(entry);
    entry->state = CC_ENTRY_FREE;
    entry->pid = 0;
}
