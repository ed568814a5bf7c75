/* The host's options of a worker's life: what ends it, and when there is none at all. */
#include "config/options_core.h"
#include "config/settings.h"

#define S    struct cc_settings
#define LIFE .section = "Worker life", .since = "0.1"

static const struct cc_option rows[] = {
    {CC_INT_ROW("max-requests", S, life.max_requests), LIFE, .letter = 'R', .fallback = "0",
     .help = "Replaces a worker after so many requests: it serves until another is ready in its "
             "place. 0: never. Implies master."},
    {CC_INT_ROW("max-requests-delta", S, life.max_requests_delta), LIFE, .fallback = "0",
     .help = "Adds this to max-requests for each further worker, so that not all of them are "
             "replaced at the same time: worker N answers max-requests + (N - 1) * delta."},
    {CC_SECONDS_ROW("min-worker-lifetime", S, life.min_lifetime), LIFE, .fallback = "10",
     .max = 86400,
     .help = "Time that a worker runs at least before max-requests, reload-on-rss or reload-on-as "
             "replace it."},
    {CC_SECONDS_ROW("max-worker-lifetime", S, life.max_lifetime), LIFE, .fallback = "0",
     .max = 86400 * 365,
     .help = "Replaces a worker that has run for this time. 0: never. Implies master."},
    {CC_SECONDS_ROW("max-worker-lifetime-delta", S, life.max_lifetime_delta), LIFE, .fallback = "0",
     .max = 86400,
     .help = "Adds this to max-worker-lifetime for each further worker: worker N runs for "
             "max-worker-lifetime + (N - 1) * delta."},
    {CC_INT_ROW("reload-on-rss", S, life.rss_mb), LIFE, .fallback = "0", .max = 1 << 24,
     .value = "MB",
     .help = "Replaces a worker whose resident memory is over so many megabytes; its requests may "
             "finish. Looked at each second. 0: never. Implies master."},
    {CC_INT_ROW("reload-on-as", S, life.as_mb), LIFE, .fallback = "0", .max = 1 << 24,
     .value = "MB", .help = "The same for the size of its address space."},
    {CC_INT_ROW("evil-reload-on-rss", S, life.evil_rss_mb), LIFE, .fallback = "0", .max = 1 << 24,
     .value = "MB",
     .help = "Kills a worker whose resident memory is over so many megabytes, whatever it runs. "
             "0: never. Implies master."},
    {CC_INT_ROW("evil-reload-on-as", S, life.evil_as_mb), LIFE, .fallback = "0", .max = 1 << 24,
     .value = "MB", .help = "The same for the size of its address space."},
    {CC_BOOL_ROW("cheap", S, life.cheap), LIFE,
     .help = "Starts no worker until the first client connects. Implies master."},
    {CC_SECONDS_ROW("idle", S, life.idle), LIFE, .fallback = "0", .max = 86400 * 365,
     .help = "Ends all workers when there was no request for this time; the next client that "
             "connects brings them back. 0: never. Implies master."},
    {CC_BOOL_ROW("die-on-idle", S, life.die_on_idle), LIFE,
     .help = "Ends the whole server instead when idle is over."},
};

const struct cc_option_table cc_options_life = {"core", rows, sizeof rows / sizeof rows[0],
                                                sizeof(struct cc_settings)};
