/* Which generation to start, stop and keep: the decisions of the master without its loop. A reload
 * starts a new generation beside the old, and the old one stops when the new one serves; one that
 * cannot load its app changes nothing. */
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "log/log.h"
#include "process/master_state.h"
#include "process/spawn.h"

void cc_master_ask_reload(struct cc_master *master)
{
    if (master->stopping)
        return;
    master->reload = true;
    master->due_ns = 0; /* whoever asks has mended something: do not wait any longer */
}

bool cc_master_wants_generation(const struct cc_master *master, bool *must_load)
{
    const struct cc_generations *all = &master->generations;
    bool serves = cc_generations_find(all, CC_GENERATION_SERVING) != NULL;

    *must_load = serves || master->launch->settings->process.need_app;
    if (master->stopping || cc_generations_find(all, CC_GENERATION_STARTING) != NULL)
        return false;
    if (serves)
        return master->reload;
    return cc_clock_ns() >= master->due_ns;
}

double cc_master_wake_in(const struct cc_master *master)
{
    const struct cc_generations *all = &master->generations;
    int64_t now = cc_clock_ns();

    if (master->stopping || cc_generations_find(all, CC_GENERATION_STARTING) != NULL ||
        cc_generations_find(all, CC_GENERATION_SERVING) != NULL)
        return -1;
    return master->due_ns <= now ? 0 : (double)(master->due_ns - now) / (double)CC_SECOND_NS;
}

void cc_master_cannot_start(struct cc_master *master)
{
    int delay = cc_throttle_delay(&master->throttle, false, 0);

    if (cc_generations_find(&master->generations, CC_GENERATION_SERVING) == NULL)
        master->due_ns = cc_clock_ns() + (delay == 0 ? 1 : delay) * CC_SECOND_NS;
}

void cc_master_take_over(struct cc_master *master)
{
    struct cc_generation *newest = cc_generations_find(&master->generations, CC_GENERATION_SERVING);

    if (newest == NULL)
        return;
    if (!master->served)
        cc_log(CC_LOG_INFO, "all workers are ready");
    master->served = true;
    for (struct cc_link *link = master->generations.list.next; link != &newest->link;
         link = link->next) {
        struct cc_generation *older = CC_CONTAINER(link, struct cc_generation, link);
        if (older->state != CC_GENERATION_SERVING)
            continue;
        cc_log(CC_LOG_INFO,
               "reload: generation %d serves; generation %d finishes its requests and ends",
               newest->number, older->number);
        cc_generation_stop(older, CC_SUCCESSOR_GENERATION);
    }
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
        return;
    }
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
