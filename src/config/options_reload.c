/* The host's options of reloads. */
#include "config/options_core.h"
#include "config/settings.h"

#define S        struct cc_settings
#define SINCE    .since = "0.1"
#define IN(part) .section = part, SINCE

static const struct cc_option rows[] = {
    {CC_SECONDS_ROW("reload-mercy", S, reload.mercy), IN("Reloads"), .fallback = "60", .min = 1,
     .max = 86400,
     .help = "Time that the requests of an old generation get to finish after a reload; what then "
             "is left of it is killed."},
    {CC_BOOL_ROW("reload-overlap", S, reload.overlap), IN("Reloads"), .fallback = "true",
     .help = "Starts the new generation beside the old one, which stops when the new one serves. "
             "Without it the old one ends first: that takes half the memory, but clients wait "
             "while the app is loaded, and a broken app is an outage. Only ccontainer has it."},
    {CC_LIST_ROW("touch-reload", S, reload.touch_reload), IN("Reloads"), .value = "file",
     .help = "Reloads when this file is touched or replaced; looked at once a second. Implies "
             "master, as all of these do."},
    {CC_LIST_ROW("touch-chain-reload", S, reload.touch_chain), IN("Reloads"), .value = "file",
     .help = "Replaces the workers one after another when this file is touched. With lazy-apps "
             "they load the app anew; the configuration is not read."},
    {CC_LIST_ROW("touch-workers-reload", S, reload.touch_workers), IN("Reloads"), .value = "file",
     .help = "Replaces all workers at once when this file is touched; else as "
             "touch-chain-reload."},
    {CC_LIST_ROW("touch-logreopen", S, reload.touch_logreopen), IN("Reloads"), .value = "file",
     .help = "Opens logto anew when this file is touched: for logrotate."},
    {CC_LIST_ROW("master-fifo", S, reload.master_fifo), IN("Reloads"), .value = "file",
     .help =
         "Makes a FIFO that takes orders by letters: r reload, c chain reload, w new workers, q "
         "stop, s status, l log opened again, p pause, and others of uWSGI's. May come ten "
         "times; a digit switches."},
};

const struct cc_option_table cc_options_reload = {"core", rows, sizeof rows / sizeof rows[0],
                                                  sizeof(struct cc_settings)};
