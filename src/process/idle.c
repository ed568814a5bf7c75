/* See idle.h. */
#include "process/idle.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/channel.h"
#include "process/harakiri.h"
#include "process/workers.h"

static void on_client(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct cc_workers *workers = watcher->data;

    (void)loop;
    (void)events;
    cc_log(CC_LOG_INFO, "a client has come: workers are started");
    cc_idle_end(workers);
    cc_workers_want(workers, cc_workers_initial(workers));
}

void cc_idle_begin(struct cc_workers *workers)
{
    const struct cc_listeners *listeners = workers->launch->listeners;
    struct cc_idle *idle = &workers->idle;

    if (idle->bells != NULL || workers->stopping)
        return;
    cc_workers_want(workers, 0);
    idle->n_bells = listeners->count;
    idle->bells = cc_alloc_zeroed(idle->n_bells, sizeof *idle->bells);
    for (size_t i = 0; i < idle->n_bells; i++) {
        ev_io_init(&idle->bells[i], on_client, listeners->items[i].fd, EV_READ);
        idle->bells[i].data = workers;
    }
    cc_idle_mute(workers, workers->paused);
}

void cc_idle_mute(struct cc_workers *workers, bool on)
{
    struct cc_idle *idle = &workers->idle;

    for (size_t i = 0; i < idle->n_bells; i++) {
        if (on)
            ev_io_stop(workers->loop, &idle->bells[i]);
        else
            ev_io_start(workers->loop, &idle->bells[i]);
    }
}

void cc_idle_end(struct cc_workers *workers)
{
    struct cc_idle *idle = &workers->idle;

    for (size_t i = 0; i < idle->n_bells; i++)
        ev_io_stop(workers->loop, &idle->bells[i]);
    free(idle->bells);
    idle->bells = NULL;
    idle->n_bells = 0;
    idle->since_ns = 0;
}

static bool runs_something(const struct cc_workers *workers)
{
    for (int i = 0; i < workers->n_entries; i++)
        if (workers->entries[i].state != CC_ENTRY_FREE &&
            cc_harakiri_oldest(workers->board, workers->entries[i].row).since_ns != 0)
            return true;
    return false;
}

void cc_idle_look(struct cc_workers *workers, int64_t now)
{
    const struct cc_life_settings *life = &workers->launch->settings->life;
    struct cc_idle *idle = &workers->idle;

    if (life->idle == 0 || workers->stopping || workers->paused || !workers->served ||
        idle->bells != NULL)
        return;
    uint64_t requests = cc_scoreboard_requests(workers->board, 0);
    if (idle->since_ns == 0 || requests != idle->requests || runs_something(workers)) {
        idle->since_ns = now;
        idle->requests = requests;
        return;
    }
    if (now - idle->since_ns < life->idle * CC_SECOND_NS || idle->said)
        return;
    if (life->die_on_idle) {
        cc_log(CC_LOG_INFO, "no request for %d s (idle): the server ends (die-on-idle)",
               (int)life->idle);
        idle->said = true;
        cc_channel_send(workers->up, (struct cc_message){.kind = CC_MESSAGE_IDLE});
        return;
    }
    cc_log(CC_LOG_INFO, "no request for %d s (idle): no workers until a client comes",
           (int)life->idle);
    cc_idle_begin(workers);
}
