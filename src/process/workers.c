/* See workers.h. */
#include "process/workers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/channel.h"
#include "process/harakiri.h"
#include "process/life.h"
#include "process/replace.h"
#include "process/worker_entry.h"

/* However often workers ask for a reload. */
#define RELOAD_ASKED_EVERY_NS CC_SECOND_NS
/* Nothing else tells that a worker is stopped by a signal. */
#define LOOK_IDLE_NS (2 * CC_SECOND_NS)

int cc_workers_rows(int processes)
{
    return CC_ENTRIES_A_SEAT * processes;
}

void cc_workers_init(struct cc_workers *workers, const struct cc_launch *launch,
                     struct cc_scoreboard *board, struct ev_loop *loop, int up)
{
    *workers = (struct cc_workers){
        .launch = launch,
        .board = board,
        .loop = loop,
        .up = up,
        .n_entries = board->rows,
        .n_seats = (int)launch->settings->process.processes,
        .reload_asked_ns = INT64_MIN / 2,
    };
    workers->entries = cc_alloc_zeroed((size_t)workers->n_entries, sizeof *workers->entries);
    workers->seats = cc_alloc_zeroed((size_t)workers->n_seats, sizeof *workers->seats);
    for (int i = 0; i < workers->n_entries; i++)
        cc_entry_init(&workers->entries[i], workers, i + 1);
    for (int i = 0; i < workers->n_seats; i++)
        workers->seats[i] = (struct cc_seat){.all = workers, .number = i + 1};
    atomic_store(&board->shared->used, 0);
}

void cc_workers_begin(struct cc_workers *workers)
{
    const struct cc_settings *settings = workers->launch->settings;
    /* One whose app must be shown to load before it takes over has to start a worker for that. */
    bool must_show = settings->process.lazy_apps && workers->must_load;

    if (settings->life.cheap && !must_show) {
        cc_log(CC_LOG_INFO, "no workers until a client comes (cheap)");
        cc_idle_begin(workers);
        cc_replace_tell_served(workers);
    } else {
        cc_workers_want(workers, cc_workers_initial(workers));
    }
}

void cc_workers_clear(struct cc_workers *workers)
{
    cc_idle_end(workers);
    for (int i = 0; i < workers->n_entries; i++)
        cc_entry_clear(&workers->entries[i]);
    cc_cheaper_clear(&workers->cheaper);
    free(workers->entries);
    free(workers->seats);
    workers->entries = NULL;
    workers->seats = NULL;
    workers->n_entries = workers->n_seats = 0;
}

/* The lowest, so that few rows of the board are ever looked at; NULL: all are taken. */
static struct cc_worker_entry *free_entry(const struct cc_workers *workers)
{
    for (int i = 0; i < workers->n_entries; i++)
        if (workers->entries[i].state == CC_ENTRY_FREE)
            return &workers->entries[i];
    return NULL;
}

/* true in the child. */
static bool start(struct cc_seat *seat, struct cc_worker_entry *entry,
                  const struct cc_app_held *held, struct cc_worker_birth *born)
{
    struct cc_workers *workers = seat->all;

    if (entry->row > atomic_load(&workers->board->shared->used))
        atomic_store(&workers->board->shared->used, entry->row);
    born->replaces = seat->holder != NULL;
    switch (cc_entry_fork(entry, seat, held, born)) {
    case CC_FORKED_CHILD:
        return true;
    case CC_FORKED_NOT:
        cc_replace_cannot_start(seat);
        return false;
    case CC_FORKED_PARENT:
        break;
    }
    cc_replace_started(seat, entry);
    /* A master that is gone shows as the end of the channel. */
    cc_channel_send(workers->up, (struct cc_message){.kind = CC_MESSAGE_STARTED,
                                                     .worker = entry->row,
                                                     .pid = (int32_t)entry->pid,
                                                     .status = seat->number});
    return false;
}

bool cc_workers_start_due(struct cc_workers *workers, const struct cc_app_held *held,
                          struct cc_worker_birth *born)
{
    int64_t now = cc_clock_ns(), when;

    for (int i = 0; i < workers->n_seats; i++) {
        struct cc_seat *seat = &workers->seats[i];
        if (!cc_replace_wants(seat, now, &when))
            continue;
        struct cc_worker_entry *entry = free_entry(workers);
        if (entry == NULL)
            return false; /* until one that finishes its requests has ended */
        if (start(seat, entry, held, born))
            return true;
    }
    return false;
}

int cc_workers_initial(const struct cc_workers *workers)
{
    int initial = (int)workers->launch->settings->cheaper.initial;

    return initial > 0 ? initial : workers->n_seats;
}

int cc_workers_wanted(const struct cc_workers *workers)
{
    int wanted = 0;

    for (int i = 0; i < workers->n_seats; i++)
        wanted += workers->seats[i].wanted;
    return wanted;
}

/* Whose seat is given up, if one has to be: those with the highest number, and among them one that
 * runs nothing. */
static struct cc_seat *least_needed(const struct cc_workers *workers)
{
    struct cc_seat *found = NULL;

    for (int i = workers->n_seats - 1; i >= 0; i--) {
        struct cc_seat *seat = &workers->seats[i];
        if (!seat->wanted)
            continue;
        if (seat->holder == NULL ||
            cc_harakiri_oldest(workers->board, seat->holder->row).since_ns == 0)
            return seat;
        if (found == NULL)
            found = seat;
    }
    return found;
}

void cc_workers_want(struct cc_workers *workers, int count)
{
    int wanted = cc_workers_wanted(workers);

    for (int i = 0; i < workers->n_seats && wanted < count; i++) {
        wanted += !workers->seats[i].wanted;
        workers->seats[i].wanted = true;
    }
    for (; wanted > count; wanted--)
        cc_replace_vacate(least_needed(workers));
}

void cc_workers_stop(struct cc_workers *workers, enum cc_successor successor)
{
    if (workers->stopping)
        return;
    workers->stopping = true;
    workers->successor = successor;
    cc_idle_end(workers);
    for (int i = 0; i < workers->n_entries; i++)
        cc_entry_stop(&workers->entries[i]);
}

void cc_workers_pause(struct cc_workers *workers, bool on)
{
    if (workers->paused == on)
        return;
    workers->paused = on;
    cc_log(CC_LOG_INFO, on ? "paused: nobody is accepted" : "the pause is over");
    for (int i = 0; i < workers->n_entries; i++)
        if (workers->entries[i].state != CC_ENTRY_FREE)
            cc_entry_send(&workers->entries[i], on ? CC_MESSAGE_PAUSE : CC_MESSAGE_RESUME);
    cc_idle_mute(workers, on);
}

void cc_workers_kill(struct cc_workers *workers)
{
    workers->stopping = true;
    cc_idle_end(workers);
    for (int i = 0; i < workers->n_entries; i++)
        if (workers->entries[i].state != CC_ENTRY_FREE)
            cc_entry_kill(&workers->entries[i]);
}

static void pass_on_reload(struct cc_workers *workers, int64_t now)
{
    if (!workers->reload_asked || now - workers->reload_asked_ns < RELOAD_ASKED_EVERY_NS)
        return;
    workers->reload_asked = false;
    workers->reload_asked_ns = now;
    cc_channel_send(workers->up, (struct cc_message){.kind = CC_MESSAGE_RELOAD});
}

void cc_workers_check(struct cc_workers *workers)
{
    int64_t now = cc_clock_ns();

    pass_on_reload(workers, now);
    for (int i = 0; i < workers->n_entries; i++) {
        cc_harakiri_check(&workers->entries[i], now);
        cc_entry_check(&workers->entries[i], now);
    }
    if (now - workers->looked_ns < CC_SECOND_NS)
        return;
    workers->looked_ns = now;
    for (int i = 0; i < workers->n_entries; i++) {
        cc_entry_look(&workers->entries[i], now);
        cc_life_look(&workers->entries[i], now);
    }
    cc_idle_look(workers, now);
    cc_cheaper_look(workers, now);
}

/* Is there anything that has to be looked at each second? */
static bool needs_look(const struct cc_workers *workers)
{
    bool cheaper = workers->launch->settings->cheaper.least > 0;
    const struct cc_life_settings *life = &workers->launch->settings->life;

    if (!workers->stopping && cc_life_limited(life))
        return true;
    if (!workers->stopping && workers->idle.bells == NULL && (life->idle > 0 || cheaper))
        return true;
    for (int i = 0; i < workers->n_entries; i++)
        if (workers->entries[i].state != CC_ENTRY_FREE && workers->entries[i].exited.fd < 0)
            return true;
    return false;
}

static int64_t soonest_of(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

double cc_workers_wake_in(const struct cc_workers *workers)
{
    int64_t now = cc_clock_ns(), soonest = INT64_MAX, when;

    if (workers->reload_asked)
        soonest = workers->reload_asked_ns + RELOAD_ASKED_EVERY_NS;
    for (int i = 0; i < workers->n_entries; i++) {
        soonest = soonest_of(soonest, cc_entry_wake(&workers->entries[i]));
        soonest = soonest_of(soonest, cc_harakiri_wake(&workers->entries[i], now));
    }
    /* Without a free entry the end of one of them is the event to wait for. */
    for (int i = 0; i < workers->n_seats && free_entry(workers) != NULL; i++) {
        cc_replace_wants(&workers->seats[i], now, &when);
        soonest = soonest_of(soonest, when);
    }
    if (needs_look(workers))
        soonest = soonest_of(soonest, workers->looked_ns + CC_SECOND_NS);
    else if (cc_workers_alive(workers) > 0)
        soonest = soonest_of(soonest, workers->looked_ns + LOOK_IDLE_NS);
    if (soonest == INT64_MAX)
        return -1;
    return soonest <= now ? 0 : (double)(soonest - now) / (double)CC_SECOND_NS;
}

int cc_workers_alive(const struct cc_workers *workers)
{
    int alive = 0;

    for (int i = 0; i < workers->n_entries; i++)
        alive += workers->entries[i].state != CC_ENTRY_FREE;
    return alive;
}
