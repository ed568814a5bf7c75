/* See life.h. */
#include "process/life.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "log/log.h"
#include "process/replace.h"
#include "process/worker_entry.h"

#define MB (INT64_C(1) << 20)

bool cc_life_size(pid_t pid, struct cc_size *size)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    char path[40], *end;
    size_t len;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    char *text = cc_fd_read_file(path, 256, &len);
    if (text == NULL)
        return false;
    size->address_space = strtoll(text, &end, 10) * page;
    size->resident = strtoll(end, NULL, 10) * page;
    free(text);
    return true;
}

static bool limits_memory(const struct cc_life_settings *life)
{
    return life->rss_mb > 0 || life->as_mb > 0 || life->evil_rss_mb > 0 || life->evil_as_mb > 0;
}

bool cc_life_limited(const struct cc_life_settings *life)
{
    return life->max_lifetime > 0 || limits_memory(life);
}

/* Whoever is over the limit is killed, whatever it runs. */
static bool kill_if_over(struct cc_worker_entry *entry, int64_t bytes, int64_t limit_mb,
                         const char *option)
{
    if (limit_mb == 0 || bytes <= limit_mb * MB)
        return false;
    cc_log(CC_LOG_WARN, "worker %d (pid %d) is killed: it has %lld MB, and %s is %lld",
           entry->seat->number, (int)entry->pid, (long long)(bytes / MB), option,
           (long long)limit_mb);
    cc_entry_kill(entry);
    return true;
}

static void replace_if_over(struct cc_worker_entry *entry, int64_t bytes, int64_t limit_mb,
                            enum cc_replace_why why)
{
    if (limit_mb == 0 || bytes <= limit_mb * MB || entry->seat->why != CC_REPLACE_NOT)
        return;
    cc_log(CC_LOG_INFO, "worker %d (pid %d) has %lld MB, and %s is %lld: it is to be replaced",
           entry->seat->number, (int)entry->pid, (long long)(bytes / MB), cc_replace_text(why),
           (long long)limit_mb);
    cc_replace_ask(entry->seat, why);
}

void cc_life_look(struct cc_worker_entry *entry, int64_t now)
{
    const struct cc_life_settings *life = &entry->all->launch->settings->life;
    struct cc_seat *seat = entry->seat;
    struct cc_size size = {0};

    if (entry->state == CC_ENTRY_FREE || entry->explained || !cc_life_limited(life))
        return;
    if (limits_memory(life) && !cc_life_size(entry->pid, &size))
        return;
    if (kill_if_over(entry, size.resident, life->evil_rss_mb, "evil-reload-on-rss") ||
        kill_if_over(entry, size.address_space, life->evil_as_mb, "evil-reload-on-as"))
        return;
    if (entry->state != CC_ENTRY_SERVING || seat->holder != entry)
        return;
    int64_t age_s = (now - entry->started_ns) / CC_SECOND_NS;
    if (life->max_lifetime > 0 &&
        age_s >= life->max_lifetime + (seat->number - 1) * life->max_lifetime_delta)
        cc_replace_ask(seat, CC_REPLACE_LIFETIME);
    if (age_s < life->min_lifetime)
        return;
    replace_if_over(entry, size.resident, life->rss_mb, CC_REPLACE_RSS);
    replace_if_over(entry, size.address_space, life->as_mb, CC_REPLACE_AS);
}
