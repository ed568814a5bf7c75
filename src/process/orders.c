/* See orders.h. */
#include "process/orders.h"

#include "base/buf.h"
#include "log/log.h"
#include "process/channel.h"
#include "process/master_state.h"
#include "process/status.h"
#include "system/surroundings.h"

/* Tells the generations that serve; also: those that finish as well. */
static void tell(struct cc_master *master, enum cc_message_kind kind, bool also_stopping)
{
    struct cc_link *list = &master->generations.list;
    bool told = false;

    for (struct cc_link *link = list->next; link != list; link = link->next) {
        struct cc_generation *generation = CC_CONTAINER(link, struct cc_generation, link);
        if (generation->state != CC_GENERATION_SERVING &&
            !(also_stopping && generation->state == CC_GENERATION_STOPPING))
            continue;
        cc_channel_send(generation->channel, (struct cc_message){.kind = kind});
        told = true;
    }
    if (!told)
        cc_log(CC_LOG_WARN, "nothing serves at the moment: there is nobody to do it");
}

static void reopen_log(struct cc_master *master)
{
    const struct cc_settings *settings = master->launch->settings;
    const char *option;
    struct cc_err err;

    if (cc_surroundings_log_path(settings, &option) == NULL) {
        cc_log(CC_LOG_WARN, "there is no logto: the log goes to standard error, which cannot be "
                            "opened again");
        return;
    }
    if (!cc_surroundings_reopen_log(settings, &err)) {
        cc_log(CC_LOG_ERROR, "the log cannot be opened again (as the user that it runs as): %s",
               err.text);
        return;
    }
    cc_log(CC_LOG_INFO, "the log goes on here");
    tell(master, CC_MESSAGE_LOG_REOPEN, true);
}

static void say_status(const struct cc_master *master)
{
    struct cc_buf text = {0};

    cc_status_write(master, &text);
    cc_log(CC_LOG_INFO, "status:\n%.*s", (int)text.len, text.at);
    cc_buf_clear(&text);
}

static void pause_all(struct cc_master *master)
{
    master->paused = !master->paused;
    cc_log(CC_LOG_INFO, "%s",
           master->paused ? "paused: no connection is accepted until the next p"
                          : "going on: connections are accepted again");
    tell(master, master->paused ? CC_MESSAGE_PAUSE : CC_MESSAGE_RESUME, false);
}

void cc_orders_obey(struct cc_master *master, enum cc_order order, const char *who)
{
    static const char *const what[] = {"reload",
                                       "reload without mercy",
                                       "chain reload",
                                       "all workers anew",
                                       "all workers killed",
                                       "stop",
                                       "stop at once",
                                       "log opened again",
                                       "pause",
                                       "cheap mode",
                                       "a worker more",
                                       "a worker less",
                                       "status",
                                       "upgrade"};

    cc_log(CC_LOG_INFO, "%s: %s", who, what[order]);
    switch (order) {
    case CC_ORDER_RELOAD_BRUTAL:
        master->brutal = true;
        cc_master_ask_reload(master);
        return;
    case CC_ORDER_RELOAD:
        cc_master_ask_reload(master);
        return;
    case CC_ORDER_CHAIN:
        tell(master, CC_MESSAGE_CHAIN, false);
        return;
    case CC_ORDER_RECYCLE:
        tell(master, CC_MESSAGE_RECYCLE, false);
        return;
    case CC_ORDER_KILL_WORKERS:
        tell(master, CC_MESSAGE_STOP_NOW, false);
        return;
    case CC_ORDER_STOP:
    case CC_ORDER_STOP_NOW:
        master->stop_asked = true;
        master->stop_now = order == CC_ORDER_STOP_NOW;
        return;
    case CC_ORDER_LOG_REOPEN:
        reopen_log(master);
        return;
    case CC_ORDER_PAUSE:
        pause_all(master);
        return;
    case CC_ORDER_CHEAP:
        tell(master, CC_MESSAGE_CHEAP, false);
        return;
    case CC_ORDER_MORE:
        tell(master, CC_MESSAGE_MORE, false);
        return;
    case CC_ORDER_FEWER:
        tell(master, CC_MESSAGE_FEWER, false);
        return;
    case CC_ORDER_SAY_STATUS:
        say_status(master);
        return;
    case CC_ORDER_UPGRADE:
        master->upgrade_asked = true;
        return;
    }
}
