/* See status.h. Counters are the workers' own and are only shown. */
#include "process/status.h"

#include <config.h>

#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"

#define WORKERS_SHOWN 200

static const char *state_text(const struct cc_generation *generation)
{
    switch (generation->state) {
    case CC_GENERATION_STARTING:
        return "starting";
    case CC_GENERATION_SERVING:
        return "serving";
    case CC_GENERATION_STOPPING:
        return "finishing";
    default:
        return "ended";
    }
}

/* "3 d 4 h", "5 min 6 s": two units are enough to see. */
static void write_age(struct cc_buf *text, int64_t since_ns)
{
    int64_t seconds = (cc_clock_ns() - since_ns) / CC_SECOND_NS;

    if (seconds >= 86400)
        cc_buf_printf(text, "%" PRId64 " d %" PRId64 " h", seconds / 86400, seconds % 86400 / 3600);
    else if (seconds >= 3600)
        cc_buf_printf(text, "%" PRId64 " h %" PRId64 " min", seconds / 3600, seconds % 3600 / 60);
    else if (seconds >= 60)
        cc_buf_printf(text, "%" PRId64 " min %" PRId64 " s", seconds / 60, seconds % 60);
    else
        cc_buf_printf(text, "%" PRId64 " s", seconds);
}

static int running_in(const struct cc_generation *generation, int row)
{
    int count = 0;

    for (int thread = 0; thread < generation->n_threads; thread++)
        count +=
            atomic_load_explicit(&cc_scoreboard_slot(generation->board, row, thread)->started_ns,
                                 memory_order_relaxed) != 0;
    return count;
}

static void write_generation(struct cc_buf *text, const struct cc_generation *generation)
{
    int workers = 0, shown = 0;

    for (int i = 0; i < generation->n_workers; i++)
        workers += generation->workers[i] != 0;
    cc_buf_printf(text, "\ngeneration %d: %s, pid %d, for ", generation->number,
                  state_text(generation), (int)generation->pid);
    write_age(text, generation->started_ns);
    cc_buf_printf(text, ", %d worker%s, %" PRIu64 " requests", workers, workers == 1 ? "" : "s",
                  cc_scoreboard_requests(generation->board, 0));
    for (int i = 0; i < generation->n_workers && shown < WORKERS_SHOWN; i++) {
        if (generation->workers[i] == 0)
            continue;
        shown++;
        cc_buf_printf(text, "\n  worker pid %d: %" PRIu64 " requests, %d running",
                      (int)generation->workers[i], cc_scoreboard_requests(generation->board, i + 1),
                      running_in(generation, i + 1));
    }
    if (workers > shown)
        cc_buf_printf(text, "\n  and %d more", workers - shown);
}

void cc_status_write(const struct cc_master *master, struct cc_buf *text)
{
    const struct cc_link *list = &master->generations.list;

    cc_buf_printf(text, "%s, pid %d, up ", PACKAGE_STRING, (int)getpid());
    write_age(text, master->started_ns);
    if (master->stopping)
        cc_buf_printf(text, ", stopping");
    if (master->paused)
        cc_buf_printf(text, ", paused");
    for (const struct cc_link *link = list->next; link != list; link = link->next)
        write_generation(text, CC_CONTAINER(link, struct cc_generation, link));
}
