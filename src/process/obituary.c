/* See obituary.h. */
#include "process/obituary.h"

#include <stdio.h>
#include <sys/wait.h>

#include "log/log.h"
#include "process/autopsy.h"
#include "process/harakiri.h"
#include "process/spawn.h"

/* "; starting another" and its like. */
static const char *say_next(const struct cc_worker_entry *entry, int delay, char *text, int size)
{
    const struct cc_seat *seat = entry->seat;
    const char *when = delay == 0 ? "starting another" : "next try in";
    char seconds[24] = "";

    text[0] = '\0';
    if (entry->all->stopping || !seat->wanted || entry->state == CC_ENTRY_STOPPING)
        return text;
    if (delay > 0)
        snprintf(seconds, sizeof seconds, " %d s", delay);
    if (seat->next == entry && delay < 0)
        snprintf(text, (size_t)size, "; pid %d goes on, and the %s is over", (int)seat->holder->pid,
                 "reload");
    else if (seat->next == entry)
        snprintf(text, (size_t)size, "; pid %d goes on; %s%s", (int)seat->holder->pid, when,
                 seconds);
    else if (seat->next != NULL)
        snprintf(text, (size_t)size, "; its replacement is being started");
    else
        snprintf(text, (size_t)size, "; %s%s", when, seconds);
    return text;
}

void cc_obituary(struct cc_worker_entry *entry, int status, int delay)
{
    const struct cc_workers *workers = entry->all;
    struct cc_running running = cc_harakiri_oldest(workers->board, entry->row);
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == CC_EXIT_OK;
    const char *whose = entry->seat->next == entry ? "the replacement of " : "";
    char fate[64], next[96];

    if (entry->explained)
        return; /* said when it was killed */
    if (clean && (workers->stopping || entry->state == CC_ENTRY_STOPPING))
        return;
    cc_autopsy_dead(entry);
    say_next(entry, delay, next, sizeof next);
    if (clean && entry->was_ready) {
        cc_log(CC_LOG_INFO, "worker %d (pid %d) has ended%s", entry->seat->number, (int)entry->pid,
               next);
        return;
    }
    cc_log(CC_LOG_WARN, "%sworker %d (pid %d) %s%s%s%s", whose, entry->seat->number,
           (int)entry->pid, cc_spawn_fate(status, fate, sizeof fate),
           running.since_ns != 0 ? " while it ran "
                                 : (entry->was_ready ? "" : " before it was ready"),
           running.what, next);
}
