/* See workers.h. */
#include "process/workers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/channel.h"
#include "process/harakiri.h"
#include "process/replace.h"
#include "process/worker_entry.h"

/* However often workers ask for a reload. */
#define RELOAD_ASKED_EVERY_NS CC_SECOND_NS

int cc_workers_rows(int processes)
{
    /* One that serves, one that replaces it, and one that still finishes its requests. */
    return 3 * processes;
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
        workers->seats[i] = (struct cc_seat){.all = workers, .number = i + 1, .wanted = true};
    atomic_store(&board->used, 0);
}

void cc_workers_clear(struct cc_workers *workers)
{
    for (int i = 0; i < workers->n_entries; i++)
        cc_entry_clear(&workers->entries[i]);
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
    bool replaces = seat->holder != NULL;
    int channel = -1;

    if (entry->row > atomic_load(&workers->board->used))
        atomic_store(&workers->board->used, entry->row);
    switch (cc_entry_fork(entry, seat, held, &channel)) {
    case CC_FORKED_CHILD:
        *born = (struct cc_worker_birth){seat->number, entry->row, channel, replaces};
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

void cc_workers_stop(struct cc_workers *workers, enum cc_successor successor)
{
    if (workers->stopping)
        return;
    workers->stopping = true;
    workers->successor = successor;
    for (int i = 0; i < workers->n_entries; i++)
        cc_entry_stop(&workers->entries[i]);
}

void cc_workers_kill(struct cc_workers *workers)
{
    workers->stopping = true;
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
        soonest = soonest_of(soonest, cc_entry_wake(&workers->entries[i], now));
        soonest = soonest_of(soonest, cc_harakiri_wake(&workers->entries[i], now));
    }
    /* Without a free entry the end of one of them is the event to wait for. */
    for (int i = 0; i < workers->n_seats && free_entry(workers) != NULL; i++) {
        cc_replace_wants(&workers->seats[i], now, &when);
        soonest = soonest_of(soonest, when);
    }
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
