/* The host's options of health checks and of the way out. */
#include "config/options_core.h"
#include "config/settings.h"

#define S        struct cc_settings
#define SINCE    .since = "0.1"
#define IN(part) .section = part, SINCE

static const struct cc_option rows[] = {
    {CC_TEXT_ROW("health-path", S, server.health_path), IN("Health"), .value = "/path",
     .help = "Requests for this path are answered without the app: 200, or 503 while ccontainer is "
             "stopping or paused and when the app did not load. Only ccontainer has it."},
    {CC_SECONDS_ROW("stop-delay", S, server.stop_delay), IN("Health"), .fallback = "0",
     .max = 86400,
     .help = "Time between the signal to stop and the stop, in which health-path says 503 and all "
             "else is served as before, so that load balancers go elsewhere. Only ccontainer has "
             "it."},
};

const struct cc_option_table cc_options_drain = {"core", rows, sizeof rows / sizeof rows[0],
                                                 sizeof(struct cc_settings)};
