/* Which generation to start, stop and keep: the decisions of the master without its loop. A reload
 * reads the configuration again and starts a new generation beside the old, and the old one stops
 * when the new one serves; a broken configuration and an app that does not load change nothing. */
#include <config.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "log/log.h"
#include "process/adopt.h"
#include "process/channel.h"
#include "process/master_state.h"
#include "process/spawn.h"
#include "server/kept.h"

#define GRACE_S 2
/* An app that asks for a reload so soon after it came to serve may do so each time. */
#define ASKS_QUICKLY_NS (5 * CC_SECOND_NS)

#define OF(at) CC_CONTAINER(at, struct cc_generation, link)

void cc_master_reload_ended(struct cc_master *master, bool failed, const char *format, ...)
{
    va_list arguments;

    if (master->reloads_ended == master->reloads_begun)
        return;
    master->reloads_ended = master->reloads_begun;
    master->brutal = false;
    master->reload_failed = failed;
    va_start(arguments, format);
    vsnprintf(master->reload_result, sizeof master->reload_result, format, arguments);
    va_end(arguments);
    master->upgraded_from = NULL;
}

void cc_master_ask_reload(struct cc_master *master)
{
    struct cc_generation *starting =
        cc_generations_find(&master->generations, CC_GENERATION_STARTING);

    if (master->stopping)
        return;
    master->reload = true;
    master->due_ns = 0; /* whoever asks has mended something: do not wait any longer */
    if (starting == NULL || starting->deadline_ns != 0)
        return;
    /* It may have the old code, and it may hang in it. */
    cc_log(CC_LOG_INFO, "reload: once more as soon as generation %d serves", starting->number);
    cc_mercy_grant(starting, master->launch->settings->reload.mercy);
}

void cc_master_app_asks(struct cc_master *master, bool asks)
{
    int64_t now = cc_clock_ns();

    if (asks && master->asked_due_ns == 0 && !master->stopping) {
        bool quick = now - master->serving_since_ns < ASKS_QUICKLY_NS;
        if (!quick)
            master->asking = (struct cc_throttle){0};
        int delay = quick ? cc_throttle_delay(&master->asking, false, 0) : 0;
        master->asked_due_ns = now + delay * CC_SECOND_NS;
        if (delay > 0)
            cc_log(CC_LOG_WARN, "the app asks for a reload again and again: the next in %d s",
                   delay);
    }
    if (master->asked_due_ns == 0 || now < master->asked_due_ns)
        return;
    master->asked_due_ns = 0;
    cc_master_ask_reload(master);
}

/* Tells those that serve to finish; but: which goes on, or NULL. */
static void stop_serving(struct cc_master *master, const struct cc_generation *but)
{
    const struct cc_launch *next = master->candidate != NULL ? master->candidate : master->launch;
    struct cc_link *list = &master->generations.list;

    for (struct cc_link *link = list->next; link != list; link = link->next) {
        struct cc_generation *generation = OF(link);
        if (generation == but || generation->state != CC_GENERATION_SERVING)
            continue;
        if (but != NULL)
            cc_log(CC_LOG_INFO,
                   "reload: generation %d serves; generation %d finishes its requests and ends",
                   but->number, generation->number);
        else
            cc_log(CC_LOG_INFO, "reload: generation %d finishes its requests and ends",
                   generation->number);
        if (master->brutal)
            cc_mercy_say_running(generation);
        cc_generation_stop(generation, CC_SUCCESSOR_GENERATION, next->settings->reload.mercy);
        if (master->brutal)
            cc_channel_send(generation->channel, (struct cc_message){.kind = CC_MESSAGE_STOP_NOW});
        /* Somebody stopped it and has forgotten it: only awake it can let its workers finish. */
        if (generation->given_up && generation->pid > 1)
            kill(generation->pid, SIGCONT);
        /* It sees to that itself; this is for one that cannot. */
        cc_mercy_grant(generation, next->settings->reload.mercy + GRACE_S);
    }
}

/* The candidate counts from now on. Whoever served from the launch before has been told to stop. */
static void adopt(struct cc_master *master)
{
    struct cc_launch *before = master->launch;

    if (master->candidate == NULL)
        return;
    master->launch = master->candidate;
    master->candidate = NULL;
    master->candidate_number = 0;
    cc_kept_retire(before->listeners, master->launch->listeners,
                   master->launch->settings->process.vacuum);
    cc_process_release(before);
}

/* What only the old binary's generations had is not listened on any more. */
static void retire_handed(struct cc_master *master)
{
    if (master->handed == NULL)
        return;
    cc_kept_retire(master->handed, master->launch->listeners,
                   master->launch->settings->process.vacuum);
    cc_adopt_free_listeners(master->handed);
    master->handed = NULL;
}

void cc_master_drop_candidate(struct cc_master *master)
{
    if (master->candidate != NULL)
        master->candidate->source->take_back(master->candidate, master->launch);
    master->candidate = NULL;
    master->candidate_number = 0;
}

/* false: the configuration is broken, which the log has said. */
static bool read_again(struct cc_master *master)
{
    const struct cc_source *source = master->launch->source;

    master->reload = false;
    master->reloads_begun++;
    master->reload_number = 0;
    if (source == NULL || master->just_read) {
        master->just_read = false;
        return true;
    }
    cc_master_drop_candidate(master);
    master->candidate = source->read(master->launch);
    if (master->candidate != NULL)
        return true;
    cc_master_reload_ended(master, true, "the configuration is broken, see the log");
    return false;
}

static bool anyone_stops(const struct cc_master *master)
{
    return cc_generations_find(&master->generations, CC_GENERATION_STOPPING) != NULL;
}

/* A reload of what serves. Returns what to start now. */
static struct cc_launch *reload_serving(struct cc_master *master, bool *must_load)
{
    const struct cc_generation *serving =
        cc_generations_find(&master->generations, CC_GENERATION_SERVING);

    if (!read_again(master)) {
        cc_log(CC_LOG_ERROR, "reload failed: generation %d goes on serving", serving->number);
        return NULL;
    }
    struct cc_launch *next = master->candidate != NULL ? master->candidate : master->launch;
    cc_log(CC_LOG_INFO, "reload: starting generation %d%s", master->generations.started + 1,
           next->settings->reload.overlap ? "" : " when the old one has ended (reload-overlap)");
    if (next->settings->reload.overlap) {
        *must_load = true;
        return next;
    }
    stop_serving(master, NULL);
    adopt(master);
    master->in_turn = true;
    return NULL;
}

struct cc_launch *cc_master_due(struct cc_master *master, bool *must_load)
{
    const struct cc_generations *all = &master->generations;

    if (master->stopping || cc_generations_find(all, CC_GENERATION_STARTING) != NULL)
        return NULL;
    if (cc_generations_find(all, CC_GENERATION_SERVING) != NULL)
        return master->reload ? reload_serving(master, must_load) : NULL;
    if (master->in_turn && anyone_stops(master))
        return NULL;
    if (cc_clock_ns() < master->due_ns)
        return NULL;
    /* Nothing serves: what was read now counts, and where it is broken what was read before. */
    if (master->reload && read_again(master))
        adopt(master);
    *must_load = master->launch->settings->process.need_app;
    return master->launch;
}

void cc_master_started(struct cc_master *master, const struct cc_generation *generation)
{
    if (master->candidate != NULL)
        master->candidate_number = generation->number;
    if (master->reloads_ended != master->reloads_begun)
        master->reload_number = generation->number;
}

void cc_master_cannot_start(struct cc_master *master)
{
    const struct cc_generation *serving =
        cc_generations_find(&master->generations, CC_GENERATION_SERVING);
    int delay = cc_throttle_delay(&master->throttle, false, 0);

    if (serving == NULL) {
        master->due_ns = cc_clock_ns() + (delay == 0 ? 1 : delay) * CC_SECOND_NS;
        return;
    }
    cc_log(CC_LOG_ERROR, "reload failed: generation %d goes on serving", serving->number);
    cc_master_reload_ended(master, true, "no process could be started, see the log");
    cc_master_drop_candidate(master);
}

double cc_master_wake_in(const struct cc_master *master)
{
    const struct cc_generations *all = &master->generations;
    int64_t now = cc_clock_ns(), soonest = INT64_MAX;
    bool idle = cc_generations_find(all, CC_GENERATION_STARTING) == NULL &&
                cc_generations_find(all, CC_GENERATION_SERVING) == NULL;

    if (!master->stopping && idle && !(master->in_turn && anyone_stops(master)))
        soonest = master->due_ns;
    if (!master->stopping && master->asked_due_ns != 0 && master->asked_due_ns < soonest)
        soonest = master->asked_due_ns;
    for (struct cc_link *link = all->list.next; link != &all->list; link = link->next) {
        int64_t frozen_ns = master->stopping ? INT64_MAX : cc_mercy_frozen_wake(OF(link));
        if (OF(link)->deadline_ns != 0 && OF(link)->deadline_ns < soonest)
            soonest = OF(link)->deadline_ns;
        if (frozen_ns < soonest)
            soonest = frozen_ns;
    }
    if (soonest == INT64_MAX)
        return -1;
    return soonest <= now ? 0 : (double)(soonest - now) / (double)CC_SECOND_NS;
}

void cc_master_take_over(struct cc_master *master)
{
    struct cc_generation *newest = cc_generations_find(&master->generations, CC_GENERATION_SERVING);

    if (newest == NULL)
        return;
    if (newest->number != master->serving_number)
        master->serving_since_ns = cc_clock_ns();
    master->serving_number = newest->number;
    if (!master->served)
        cc_log(CC_LOG_INFO, "all workers are ready");
    master->served = true;
    master->in_turn = false;
    newest->deadline_ns = 0; /* it was granted to its start */
    stop_serving(master, newest);
    if (newest->number == master->reload_number && master->upgraded_from != NULL)
        cc_master_reload_ended(master, false, "%s took over from %s, generation %d serves",
                               PACKAGE_STRING, master->upgraded_from, newest->number);
    else if (newest->number == master->reload_number)
        cc_master_reload_ended(master, false, "generation %d serves", newest->number);
    if (newest->number == master->candidate_number)
        adopt(master);
    if (newest->number > master->last_handed)
        retire_handed(master);
}

/* One that never came to serve. */
static void start_failed(struct cc_master *master, const struct cc_generation *generation,
                         int status)
{
    const struct cc_generation *serving =
        cc_generations_find(&master->generations, CC_GENERATION_SERVING);
    bool need_app = master->launch->settings->process.need_app;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : CC_EXIT_NO_APP;
    char fate[64];

    cc_spawn_fate(status, fate, sizeof fate);
    if (serving != NULL) {
        cc_log(
            CC_LOG_ERROR,
            "reload failed: generation %d %s before it was ready (see above); generation %d goes "
            "on serving",
            generation->number, fate, serving->number);
        cc_master_reload_ended(master, true, "generation %d %s before it was ready, see the log",
                               generation->number, fate);
        cc_master_drop_candidate(master);
        return;
    }
    cc_master_reload_ended(master, true, "generation %d %s before it was ready, see the log",
                           generation->number, fate);
    /* The one that served has died meanwhile: the old configuration is the one that worked. */
    if (generation->number == master->candidate_number)
        cc_master_drop_candidate(master);
    if (!master->served && (need_app || code == CC_EXIT_SYSTEM)) {
        master->stopping = true;
        master->code = code == CC_EXIT_SYSTEM ? code : CC_EXIT_NO_APP;
        cc_log(CC_LOG_ERROR, "generation %d %s before it was ready%s: not started",
               generation->number, fate, code == CC_EXIT_SYSTEM ? "" : " (need-app)");
        return;
    }
    int delay = cc_throttle_delay(&master->throttle, false, 0);
    master->due_ns = cc_clock_ns() + delay * CC_SECOND_NS;
    cc_log(CC_LOG_ERROR, "generation %d %s before it was ready; next try in %d s",
           generation->number, fate, delay);
}

void cc_master_generation_died(struct cc_master *master, const struct cc_generation *generation,
                               int status)
{
    char fate[64];

    if (master->stopping)
        return;
    if (generation->state == CC_GENERATION_STARTING) {
        start_failed(master, generation, status);
        return;
    }
    if (generation->state == CC_GENERATION_STOPPING) {
        cc_log(CC_LOG_INFO, "generation %d has ended", generation->number);
        return;
    }
    int delay = cc_throttle_delay(&master->throttle, true, cc_clock_ns() - generation->started_ns);
    master->due_ns = cc_clock_ns() + delay * CC_SECOND_NS;
    char next[32] = "; starting another";
    if (delay > 0)
        snprintf(next, sizeof next, "; next try in %d s", delay);
    cc_log(CC_LOG_WARN, "generation %d (pid %d) %s%s", generation->number, (int)generation->pid,
           cc_spawn_fate(status, fate, sizeof fate), next);
}

void cc_master_release(struct cc_master *master, const struct cc_launch *kept)
{
    if (master->candidate != NULL && master->candidate != kept)
        cc_process_release(master->candidate);
    if (master->launch != kept)
        cc_process_release(master->launch);
    master->launch = master->candidate = NULL;
}
