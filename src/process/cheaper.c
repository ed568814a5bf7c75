/* See cheaper.h. What the workers write of themselves only moves numbers here, and between limits.
 */
#include "process/cheaper.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/backlog.h"
#include "process/idle.h"
#include "process/life.h"
#include "process/workers.h"

static const char *const names[] = {"spare", "spare2", "backlog", "busyness", "manual"};

/* Spent in the app by the row's threads, those that run now included. */
static int64_t spent_ns(const struct cc_scoreboard *board, int row, int64_t now)
{
    int64_t sum = 0;

    for (int thread = 0; thread < board->threads; thread++) {
        struct cc_slot *slot = cc_scoreboard_slot(board, row, thread);
        int64_t since = atomic_load_explicit(&slot->started_ns, memory_order_relaxed);
        sum +=
            (int64_t)(atomic_load_explicit(&slot->busy_ns, memory_order_relaxed) & INT64_MAX) >> 8;
        if (since > 0 && since < now)
            sum += (now - since) >> 8;
    }
    return sum;
}

/* Threads that were busy on average since the last look. */
static double busy_of(struct cc_cheaper *cheaper, const struct cc_scoreboard *board, int row,
                      int64_t now)
{
    int64_t spent = spent_ns(board, row, now);
    double share =
        (double)(spent - cheaper->busy_ns[row - 1]) * 256 / (double)(now - cheaper->looked_ns);

    cheaper->busy_ns[row - 1] = spent;
    if (share < 0)
        return 0;
    return share > board->threads ? board->threads : share;
}

static int backlog_of_all(const struct cc_listeners *listeners)
{
    int sum = 0;

    for (size_t i = 0; i < listeners->count; i++) {
        int backlog = cc_backlog_of(listeners->items[i].fd);
        sum += backlog > 0 ? backlog : 0;
    }
    return sum;
}

/* false: some have not come to serve yet, and what they will change is not known. */
static bool take_figures(struct cc_workers *workers, int64_t now,
                         struct cc_cheaper_figures *figures)
{
    struct cc_cheaper *cheaper = &workers->cheaper;
    bool complete = true;

    *figures = (struct cc_cheaper_figures){
        .second = ++cheaper->seconds,
        .least = (int)workers->launch->settings->cheaper.least,
        .most = workers->n_seats,
        .threads = workers->board->threads,
        .backlog = backlog_of_all(workers->launch->listeners),
    };
    for (int i = 0; i < workers->n_seats; i++) {
        const struct cc_seat *seat = &workers->seats[i];
        if (!seat->wanted)
            continue;
        if (seat->holder == NULL || seat->holder->state != CC_ENTRY_SERVING) {
            complete = false;
            continue;
        }
        figures->workers++;
        figures->busy += busy_of(cheaper, workers->board, seat->holder->row, now);
    }
    cheaper->looked_ns = now;
    return complete;
}

static int64_t resident_of_all(const struct cc_workers *workers)
{
    struct cc_size size;
    int64_t sum = 0;

    for (int i = 0; i < workers->n_entries; i++)
        if (workers->entries[i].state != CC_ENTRY_FREE &&
            cc_life_size(workers->entries[i].pid, &size))
            sum += size.resident;
    return sum;
}

/* What memory allows of a change. */
static int limit_by_memory(struct cc_workers *workers, int change, const char **why)
{
    const struct cc_cheaper_settings *settings = &workers->launch->settings->cheaper;

    if (settings->rss_soft == 0)
        return change;
    int64_t resident = resident_of_all(workers);
    if (settings->rss_hard > 0 && resident >= settings->rss_hard) {
        *why = "the workers' memory is over cheaper-rss-limit-hard";
        return -1;
    }
    if (resident < settings->rss_soft) {
        workers->cheaper.said_limit = false;
        return change;
    }
    if (change > 0 && !workers->cheaper.said_limit) {
        workers->cheaper.said_limit = true;
        cc_log(CC_LOG_WARN,
               "cheaper: no more workers, since all together have %lld MB "
               "(cheaper-rss-limit-soft)",
               (long long)(resident >> 20));
    }
    return change > 0 ? 0 : change;
}

static int ask_algorithm(struct cc_workers *workers, const struct cc_cheaper_figures *figures,
                         const char **why)
{
    const struct cc_cheaper_settings *settings = &workers->launch->settings->cheaper;
    struct cc_cheaper *cheaper = &workers->cheaper;

    switch ((enum cc_cheaper_algorithm)settings->algorithm) {
    case CC_CHEAPER_SPARE:
        return cc_cheaper_spare(cheaper, settings, figures, why);
    case CC_CHEAPER_SPARE2:
        return cc_cheaper_spare2(cheaper, settings, figures, why);
    case CC_CHEAPER_BACKLOG:
        return cc_cheaper_backlog(settings, figures, why);
    case CC_CHEAPER_BUSYNESS:
        return cc_cheaper_busyness(&cheaper->busyness, settings, figures, why);
    case CC_CHEAPER_MANUAL:
        break;
    }
    return 0;
}

static void change_to(struct cc_workers *workers, int count, const char *who, const char *why)
{
    int before = cc_workers_wanted(workers);

    if (count == before)
        return;
    cc_log(CC_LOG_INFO, "%s: %d workers from here on, %d before: %s", who, count, before, why);
    cc_workers_want(workers, count);
}

static int between(int count, int least, int most)
{
    if (count < least)
        return least;
    return count > most ? most : count;
}

void cc_cheaper_look(struct cc_workers *workers, int64_t now)
{
    const struct cc_cheaper_settings *settings = &workers->launch->settings->cheaper;
    struct cc_cheaper *cheaper = &workers->cheaper;
    struct cc_cheaper_figures figures;
    const char *why = "";
    char who[32];

    if (settings->least == 0 || workers->stopping || workers->paused || workers->idle.bells != NULL)
        return;
    if (cheaper->busy_ns == NULL)
        cheaper->busy_ns = cc_alloc_zeroed((size_t)workers->n_entries, sizeof *cheaper->busy_ns);
    bool complete = take_figures(workers, now, &figures);
    if (!complete || figures.workers == 0 || cheaper->seconds == 1)
        return;
    int change = limit_by_memory(workers, ask_algorithm(workers, &figures, &why), &why);
    /* The hard limit goes below the least number, but leaves one. */
    bool hard = change < 0 && settings->rss_hard > 0 && figures.workers <= figures.least;
    int least = hard ? 1 : figures.least < figures.workers ? figures.least : figures.workers;
    snprintf(who, sizeof who, "cheaper (%s)", names[settings->algorithm]);
    if (change != 0)
        change_to(workers, between(figures.workers + change, least, figures.most), who, why);
}

void cc_cheaper_by_hand(struct cc_workers *workers, int by)
{
    if (workers->stopping || (by < 0 && cc_workers_wanted(workers) == 0))
        return;
    cc_idle_end(workers);
    change_to(workers, between(cc_workers_wanted(workers) + by, 1, workers->n_seats), "by hand",
              by > 0 ? "one more was asked for" : "one less was asked for");
}

void cc_cheaper_clear(struct cc_cheaper *cheaper)
{
    free(cheaper->busy_ns);
    cheaper->busy_ns = NULL;
}
