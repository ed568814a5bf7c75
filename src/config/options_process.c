/* The host's options of processes. */
#include "config/options_core.h"
#include "config/settings.h"

#define S        struct cc_settings
#define SINCE    .since = "0.1"
#define IN(part) .section = part, SINCE

/* What is written for 0, which would be out of bounds. */
static const char *const number_words[] = {"auto", NULL};

static const struct cc_option rows[] = {
    /* Processes */
    {CC_BOOL_ROW("master", S, process.master), IN("Processes"), .letter = 'M', .restart = true,
     .help = "Runs a master process that starts the workers, replaces dead ones and reloads."},
    {CC_INT_ROW("processes", S, process.processes), IN("Processes"), .aliases = "workers",
     .letter = 'p', .fallback = "1", .min = 1, .max = 1024, .choices = number_words,
     .help = "Number of worker processes; auto: as many as there are processors that the server "
             "may use (affinity, CPU quota of the container). More than one implies master."},
    {CC_INT_ROW("threads", S, server.threads), IN("Processes"), .fallback = "1", .min = 1,
     .max = 1024, .help = "Number of threads of each worker that run the app."},
    {CC_BOOL_ROW("lazy-apps", S, process.lazy_apps), IN("Processes"), .aliases = "lazy",
     .help = "Loads the app in each worker instead of once before they are forked."},
    {CC_BOOL_ROW("need-app", S, process.need_app), IN("Processes"),
     .help = "Exits with code 22 when the app cannot be loaded, instead of answering 500."},
    {CC_SECONDS_ROW("worker-reload-mercy", S, process.worker_mercy), IN("Processes"),
     .fallback = "8", .min = 1, .max = 86400,
     .help = "Time that running requests get to finish when the server stops or a worker ends. "
             "Where it is not set, what reload-mercy says."},
    {.name = "die-on-term",
     .kind = CC_BOOL,
     .support = CC_NO_EFFECT,
     IN("Processes"),
     .help = "SIGTERM always stops ccontainer; uWSGI would reload without this."},
    {CC_BOOL_ROW("vacuum", S, process.vacuum), IN("Processes"),
     .help = "Removes the unix sockets and the pidfile at the end."},
    {.name = "thunder-lock",
     .kind = CC_BOOL,
     .support = CC_NO_EFFECT,
     IN("Processes"),
     .help = "Workers accept connections only while they have a free thread; no lock is needed."},
    {.name = "no-orphans",
     .kind = CC_BOOL,
     .support = CC_NO_EFFECT,
     IN("Processes"),
     .help = "Workers always end when their master is gone."},
};

const struct cc_option_table cc_options_process = {"core", rows, sizeof rows / sizeof rows[0],
                                                   sizeof(struct cc_settings)};
