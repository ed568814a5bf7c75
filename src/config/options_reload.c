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
};

const struct cc_option_table cc_options_reload = {"core", rows, sizeof rows / sizeof rows[0],
                                                  sizeof(struct cc_settings)};
