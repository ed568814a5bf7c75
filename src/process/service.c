/* See service.h. */
#include "process/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/daemon.h"
#include "system/notify.h"

/* How often the number of requests in the status is renewed. */
#define REFRESH_S 10.0

static const struct cc_generation *find(const struct cc_master *master,
                                        enum cc_generation_state state)
{
    return cc_generations_find(&master->generations, state);
}

static int workers_of(const struct cc_generation *generation)
{
    int count = 0;

    for (int i = 0; i < generation->n_workers; i++)
        count += generation->workers[i] > 0;
    return count;
}

static void describe(const struct cc_master *master, char *text, size_t size)
{
    const struct cc_generation *serving = find(master, CC_GENERATION_SERVING);
    const struct cc_generation *starting = find(master, CC_GENERATION_STARTING);
    char next[64] = "";

    if (starting != NULL)
        snprintf(next, sizeof next, "%sgeneration %d is starting", serving == NULL ? "" : "; ",
                 starting->number);
    if (master->stopping)
        snprintf(text, size, "stopping: running requests may finish");
    else if (serving != NULL)
        snprintf(text, size, "generation %d serves with %d workers, %" PRIu64 " requests%s",
                 serving->number, workers_of(serving), cc_scoreboard_requests(serving->board, 0),
                 next);
    else
        snprintf(text, size, "nothing serves: %s",
                 starting != NULL ? next : "the next start is due soon");
}

/* change: lines before the status, each ended by a newline, or "". The status alone is not repeated
 * where it is the same. */
static void say(struct cc_service *service, const struct cc_master *master, const char *change)
{
    char text[sizeof service->status], whole[512];

    describe(master, text, sizeof text);
    if (change[0] == '\0' && strcmp(text, service->status) == 0)
        return;
    memcpy(service->status, text, sizeof text);
    snprintf(whole, sizeof whole, "%sSTATUS=%s", change, text);
    cc_notify(whole);
}

static void on_watchdog(struct ev_loop *loop, ev_timer *watcher, int events)
{
    const struct cc_master *master = ev_userdata(loop);

    (void)watcher;
    (void)events;
    /* A service that answers nobody is not alive, however well its master feels. */
    if (master->stopping || find(master, CC_GENERATION_SERVING) != NULL)
        cc_notify("WATCHDOG=1");
}

static void on_refresh(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)events;
    say(watcher->data, ev_userdata(loop), "");
}

void cc_service_begin(struct cc_service *service, struct ev_loop *loop)
{
    double pause = (double)cc_notify_watchdog_ns() / (double)CC_SECOND_NS;

    *service = (struct cc_service){.ready = false};
    ev_timer_init(&service->watchdog, on_watchdog, 0, pause);
    ev_timer_init(&service->refresh, on_refresh, REFRESH_S, REFRESH_S);
    service->refresh.data = service;
    if (!cc_notify_wanted())
        return;
    ev_timer_start(loop, &service->refresh);
    if (pause > 0)
        ev_timer_start(loop, &service->watchdog);
}

void cc_service_adopt(struct cc_service *service)
{
    service->ready = service->reloading = true;
}

void cc_service_reload(struct cc_service *service)
{
    service->reload_asked = true;
}

/* A manager that asked for a reload waits for both ends of it. */
static void follow_reload(struct cc_service *service, const struct cc_master *master)
{
    bool running = master->reload || master->in_turn || master->upgrading ||
                   (find(master, CC_GENERATION_STARTING) != NULL &&
                    find(master, CC_GENERATION_SERVING) != NULL);
    char change[80];

    if (!service->reloading && (running || service->reload_asked)) {
        service->reloading = true;
        snprintf(change, sizeof change, "RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\n",
                 cc_clock_ns() / 1000);
        say(service, master, change);
    }
    service->reload_asked = false;
    if (service->reloading && !running) {
        service->reloading = false;
        say(service, master, "READY=1\n");
    }
}

void cc_service_update(struct cc_service *service, const struct cc_master *master)
{
    bool serves = find(master, CC_GENERATION_SERVING) != NULL;
    char ready[48] = "READY=1\n";

    if (serves)
        cc_daemon_ready();
    if (!cc_notify_wanted() || service->stopping)
        return;
    if (master->stopping) {
        service->stopping = true;
        say(service, master, "STOPPING=1\n");
        return;
    }
    if (!service->ready && serves) {
        service->ready = true;
        service->reload_asked = false;
        if (cc_daemon_running())
            snprintf(ready, sizeof ready, "MAINPID=%d\nREADY=1\n", (int)getpid());
        say(service, master, ready);
    }
    if (service->ready)
        follow_reload(service, master);
    say(service, master, "");
}

void cc_service_end(struct cc_service *service, struct ev_loop *loop)
{
    ev_timer_stop(loop, &service->watchdog);
    ev_timer_stop(loop, &service->refresh);
}
