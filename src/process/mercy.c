/* The master's patience: an old generation gets its time to finish, and no request that hangs keeps
 * it for ever. What is killed is named, so that the log says what was lost. */
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/master_state.h"

#define NAMED_MAX 10

void cc_mercy_grant(struct cc_generation *generation, int64_t seconds)
{
    generation->deadline_ns = cc_clock_ns() + seconds * CC_SECOND_NS;
}

/* The peer chose this text, and a worker may have left anything in it. */
static void append_plain(struct cc_buf *text, const char *what, size_t size)
{
    for (size_t i = 0; i < size && what[i] != '\0'; i++) {
        unsigned char byte = (unsigned char)what[i];
        char plain = byte < ' ' || byte == 0x7f ? '?' : what[i];
        cc_buf_append(text, &plain, 1);
    }
}

static void append_running(struct cc_buf *text, const struct cc_slot *slot)
{
    int64_t since = atomic_load_explicit(&slot->started_ns, memory_order_relaxed);

    cc_buf_printf(text, "%s", text->len == 0 ? "" : ", ");
    append_plain(text, slot->method_uri, sizeof slot->method_uri);
    cc_buf_printf(text, " for %lld s", (long long)((cc_clock_ns() - since) / CC_SECOND_NS));
}

void cc_mercy_say_running(const struct cc_generation *generation)
{
    struct cc_buf text = {0};
    int count = 0;

    for (int row = 1; row <= generation->n_workers; row++)
        for (int thread = 0; thread < generation->n_threads; thread++) {
            const struct cc_slot *slot = cc_scoreboard_slot(generation->board, row, thread);
            if (atomic_load_explicit(&slot->started_ns, memory_order_relaxed) == 0)
                continue;
            if (count++ < NAMED_MAX)
                append_running(&text, slot);
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
