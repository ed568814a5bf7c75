/* The master's patience: an old generation gets its time to finish, and no request that hangs keeps
 * it for ever; nor does one that is stopped by a signal stay the one that serves. What is killed is
 * named, so that the log says what was lost. */
#include <signal.h>

#include "base/buf.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/frozen.h"
#include "process/harakiri.h"
#include "process/master_state.h"

#define NAMED_MAX 10

void cc_mercy_grant(struct cc_generation *generation, int64_t seconds)
{
    generation->deadline_ns = cc_clock_ns() + seconds * CC_SECOND_NS;
}

static void append_running(struct cc_buf *text, const struct cc_running *running)
{
    cc_buf_printf(text, "%s%s for %lld s", text->len == 0 ? "" : ", ", running->what,
                  (long long)((cc_clock_ns() - running->since_ns) / CC_SECOND_NS));
}

void cc_mercy_say_running(const struct cc_generation *generation)
{
    struct cc_buf text = {0};
    int count = 0;

    for (int row = 1; row <= generation->n_workers; row++)
        for (int thread = 0; thread < generation->n_threads; thread++) {
            const struct cc_running running =
                cc_harakiri_running(cc_scoreboard_slot(generation->board, row, thread));
            if (running.since_ns != 0 && count++ < NAMED_MAX)
                append_running(&text, &running);
        }
    if (count > 0)
        cc_log(CC_LOG_WARN, "generation %d was still running %d request%s: %s%s",
               generation->number, count, count == 1 ? "" : "s", cc_buf_text(&text),
               count > NAMED_MAX ? ", ..." : "");
    cc_buf_clear(&text);
}

static void end_it(struct cc_generation *generation)
{
    generation->deadline_ns = 0;
    if (generation->pid == 0)
        return;
    if (generation->state == CC_GENERATION_STARTING)
        cc_log(CC_LOG_WARN,
               "generation %d has not come to serve since the reload was asked for again: killed",
               generation->number);
    else
        cc_log(CC_LOG_WARN, "generation %d has not ended in its time (reload-mercy): killed",
               generation->number);
    cc_mercy_say_running(generation);
    cc_generation_kill(generation);
}

void cc_mercy_check(struct cc_master *master)
{
    struct cc_link *list = &master->generations.list;
    int64_t now = cc_clock_ns();

    for (struct cc_link *link = list->next; link != list; link = link->next) {
        struct cc_generation *generation = CC_CONTAINER(link, struct cc_generation, link);
        if (generation->deadline_ns != 0 && generation->deadline_ns <= now)
            end_it(generation);
    }
}

/* Its workers go on, and nobody looks after them. What serves is to be taken over by another that
 * is started as after a death, from what was read already: the configuration may be half-finished
 * just now. If that fails it is tried again after the same time. */
static void give_up(struct cc_master *master, struct cc_generation *generation, int64_t now)
{
    bool reload_runs =
        master->reload || cc_generations_find(&master->generations, CC_GENERATION_STARTING) != NULL;

    if (generation->state == CC_GENERATION_STARTING) {
        cc_log(CC_LOG_WARN, "generation %d is killed: it stays stopped", generation->number);
        cc_generation_kill(generation);
        return;
    }
    if (generation->state != CC_GENERATION_SERVING)
        return; /* that one has a deadline */
    generation->given_up = true;
    generation->frozen_ns = now;
    if (reload_runs)
        return;
    cc_log(CC_LOG_WARN, "generation %d stays stopped: another is started in its place",
           generation->number);
    master->just_read = true;
    cc_master_ask_reload(master);
}

static void look(struct cc_master *master, struct cc_generation *generation, int64_t now)
{
    switch (cc_frozen_look(generation->pid, &generation->frozen_ns, now)) {
    case CC_FROZEN_NOT:
        break;
    case CC_FROZEN_SEEN:
        cc_log(CC_LOG_WARN,
               "generation %d (pid %d) is stopped by a signal: nobody looks after its workers; "
               "unless it goes on within %d s another takes over",
               generation->number, (int)generation->pid, CC_FROZEN_PATIENCE_S);
        break;
    case CC_FROZEN_OVER:
        generation->given_up = false;
        cc_log(CC_LOG_INFO, "generation %d (pid %d) goes on", generation->number,
               (int)generation->pid);
        break;
    case CC_FROZEN_LONG:
        give_up(master, generation, now);
        break;
    }
}

void cc_mercy_look_frozen(struct cc_master *master)
{
    struct cc_link *list = &master->generations.list;
    int64_t now = cc_clock_ns();

    for (struct cc_link *link = list->next; link != list; link = link->next) {
        struct cc_generation *generation = CC_CONTAINER(link, struct cc_generation, link);
        if (generation->pid != 0 && !master->stopping)
            look(master, generation, now);
    }
}

int64_t cc_mercy_frozen_wake(const struct cc_generation *generation)
{
    if (generation->frozen_ns == 0 || generation->pid == 0 ||
        generation->state == CC_GENERATION_STOPPING)
        return INT64_MAX;
    return generation->frozen_ns + CC_FROZEN_PATIENCE_S * CC_SECOND_NS;
}
