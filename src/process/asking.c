/* See asking.h. */
#include "process/asking.h"

#include <stdatomic.h>
#include <unistd.h>

#include "log/log.h"
#include "process/channel.h"

/* Of the process: an app thread asks without knowing which worker it is in. */
static _Atomic int to_parent = -1;
static atomic_bool ended; /* it was a worker that could ask */

void cc_asking_set(int channel)
{
    if (channel < 0)
        atomic_store(&ended, true);
    atomic_store(&to_parent, channel);
}

void cc_asking_ask(enum cc_app_ask what, const char *why)
{
    int channel = atomic_load(&to_parent);
    bool all = what == CC_APP_ASK_RELOAD;
    struct cc_message message = {
        .kind = all ? CC_MESSAGE_RELOAD : CC_MESSAGE_REPLACE,
        .pid = (int32_t)getpid(),
        .status = what,
    };

    if (channel < 0 && atomic_load(&ended))
        cc_log(CC_LOG_INFO, "%s: this worker is ending anyway", why);
    else if (channel < 0)
        cc_log(CC_LOG_WARN, "%s: nothing to %s: %s", why, all ? "reload" : "replace",
               "that takes a master (master = true) and a worker");
    else if (!cc_channel_send(channel, message))
        cc_log(CC_LOG_WARN, "%s: the process manager is gone", why);
    else
        cc_log(CC_LOG_INFO, "%s: asking for %s", why, all ? "a reload" : "a new worker");
}
