/* The host's options of the number of workers that follows the load. */
#include "config/options_core.h"
#include "config/settings.h"

#define S        struct cc_settings
#define CHEAPER  .section = "Adaptive size", .since = "0.1"
#define BUSYNESS "For cheaper-algo = busyness: "

static const char *const algorithms[] = {"spare", "spare2", "backlog", "busyness", "manual", NULL};

static const struct cc_option rows[] = {
    {CC_INT_ROW("cheaper", S, cheaper.least), CHEAPER, .fallback = "0", .max = 1024,
     .help = "Runs between so many and processes workers, as the load asks. 0: always processes."},
    {CC_INT_ROW("cheaper-initial", S, cheaper.initial), CHEAPER, .fallback = "0", .max = 1024,
     .help = "Number of workers at the start; 0: as cheaper says."},
    {CC_INT_ROW("cheaper-step", S, cheaper.step), CHEAPER, .fallback = "1", .min = 1, .max = 1024,
     .help = "How many workers are started at a time."},
    {CC_CHOICE_ROW("cheaper-algo", S, cheaper.algorithm), CHEAPER, .fallback = "spare",
     .choices = algorithms,
     .help =
         "Who decides. spare: more when all threads are busy for cheaper-overload seconds, less "
         "when a whole worker is spare for as long; spare2: keeps as many workers spare as "
         "cheaper says; backlog: more while more than cheaper-overload clients wait in the "
         "listen queue; busyness: keeps the share of busy time between two limits; manual: "
         "only the master FIFO's + and -."},
    {CC_SECONDS_ROW("cheaper-overload", S, cheaper.overload), CHEAPER, .fallback = "3", .min = 1,
     .max = 86400,
     .help = "For spare the seconds until it acts, for busyness those over which it measures, for "
             "backlog the number of waiting clients."},
    {CC_SECONDS_ROW("cheaper-idle", S, cheaper.idle), CHEAPER, .fallback = "10", .min = 1,
     .max = 86400, .help = "For cheaper-algo = spare2: seconds after which a spare worker ends."},
    {CC_SIZE_ROW("cheaper-rss-limit-soft", S, cheaper.rss_soft), CHEAPER, .fallback = "0",
     .help = "Starts no more workers while all together have so many bytes of resident memory."},
    {CC_SIZE_ROW("cheaper-rss-limit-hard", S, cheaper.rss_hard), CHEAPER, .fallback = "0",
     .help = "Ends workers, one a second and down to one, while all together have more than this."},
    {CC_INT_ROW("cheaper-busyness-max", S, cheaper.busyness_max), CHEAPER, .fallback = "50",
     .min = 1, .max = 100, .help = BUSYNESS "more workers above this percentage."},
    {CC_INT_ROW("cheaper-busyness-min", S, cheaper.busyness_min), CHEAPER, .fallback = "25",
     .max = 100, .help = BUSYNESS "less workers below this percentage."},
    {CC_INT_ROW("cheaper-busyness-multiplier", S, cheaper.multiplier), CHEAPER, .fallback = "10",
     .min = 1, .max = 10000,
     .help =
         BUSYNESS "it takes this times cheaper-overload seconds of little load until one ends."},
    {CC_INT_ROW("cheaper-busyness-penalty", S, cheaper.penalty), CHEAPER, .fallback = "2",
     .max = 10000, .help = BUSYNESS "added to the multiplier when a worker was needed again soon."},
    {CC_BOOL_ROW("cheaper-busyness-verbose", S, cheaper.verbose), CHEAPER,
     .help = BUSYNESS "logs each measurement."},
    {CC_INT_ROW("cheaper-busyness-backlog-alert", S, cheaper.backlog_alert), CHEAPER,
     .fallback = "33", .max = 1000000,
     .help =
         BUSYNESS "starts workers at once when more clients than this wait in the listen queue."},
    {CC_INT_ROW("cheaper-busyness-backlog-multiplier", S, cheaper.backlog_multiplier), CHEAPER,
     .fallback = "3", .min = 1, .max = 10000,
     .help = BUSYNESS "the multiplier while workers run that were started so."},
    {CC_INT_ROW("cheaper-busyness-backlog-step", S, cheaper.backlog_step), CHEAPER, .fallback = "1",
     .min = 1, .max = 1024, .help = BUSYNESS "how many are started so."},
    {CC_SECONDS_ROW("cheaper-busyness-backlog-nonzero", S, cheaper.backlog_nonzero), CHEAPER,
     .fallback = "60", .min = 1, .max = 86400,
     .help = BUSYNESS "starts workers so when somebody has been waiting for this time."},
};

const struct cc_option_table cc_options_cheaper = {"core", rows, sizeof rows / sizeof rows[0],
                                                   sizeof(struct cc_settings)};
