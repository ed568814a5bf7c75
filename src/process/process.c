/* See process.h. The order is the point here: what needs root comes before its end, and all of it
 * before the first line of app code. */
#include "process/process.h"

#include <config.h>

#include <unistd.h>

#include "log/log.h"
#include "process/alone.h"
#include "process/master.h"
#include "process/signals.h"
#include "system/identity.h"
#include "system/notify.h"
#include "system/pidfile.h"
#include "system/surroundings.h"

/* What has to be tidied up at the end, by the process that made it. */
struct traces {
    struct cc_launch *launch; /* the one that counts now */
    struct cc_pidfile pidfile;
    pid_t owner;
};

static void tidy(struct traces *traces, bool remove)
{
    struct cc_err err;

    if (!cc_pidfile_close(&traces->pidfile, remove, &err))
        cc_log(CC_LOG_WARN, "vacuum: %s", err.text);
    if (remove)
        cc_listeners_unlink(traces->launch->listeners);
}

static void forget(void *data)
{
    struct traces *traces = data;

    cc_pidfile_forget(&traces->pidfile);
    cc_notify_end();
}

static void tidy_in_a_hurry(void *data)
{
    struct traces *traces = data;

    tidy(traces, traces->launch->settings->process.vacuum);
}

/* Log, pidfile, sockets' owner, identity, in this order. */
static bool settle_in(struct traces *traces, struct cc_err *err)
{
    const struct cc_settings *settings = traces->launch->settings;
    const struct cc_process_settings *process = &settings->process;
    struct cc_identity identity;

    if (!cc_identity_find(&identity, settings, err))
        return false;
    if (process->pidfile != NULL && !cc_pidfile_write(&traces->pidfile, process->pidfile, err))
        return false;
    if (!cc_listeners_chown(traces->launch->listeners, identity.socket_uid, identity.socket_gid,
                            err))
        return false;
    /* Opened as root where we are root, as uWSGI does: /var/log is root's. */
    if (!cc_surroundings_logto(settings->log.logto, err))
        return false;
    if (!cc_identity_take(&identity, err))
        return false;
    return cc_surroundings_chdir(process->chdir, true, err);
}

static void say_start(const struct cc_process_settings *process)
{
    if (process->master)
        cc_log(CC_LOG_INFO, "%s: master pid %d, %d workers%s", PACKAGE_STRING, (int)getpid(),
               (int)process->processes, process->lazy_apps ? " (lazy-apps)" : "");
    else
        cc_log(CC_LOG_INFO, "%s: pid %d", PACKAGE_STRING, (int)getpid());
    if (geteuid() == 0)
        cc_log(CC_LOG_WARN, "the app runs as root; set uid and gid");
}

void cc_process_hold_signals(void)
{
    cc_signals_hold();
}

void cc_process_release(struct cc_launch *launch)
{
    if (launch->source != NULL)
        launch->source->release(launch);
}

int cc_process_run(struct cc_launch *launch)
{
    struct traces traces = {.launch = launch, .pidfile.fd = -1, .owner = getpid()};
    struct cc_err err = {.text = ""};
    int code = CC_EXIT_SYSTEM;

    cc_signals_reset();
    cc_notify_begin();
    bool settled = settle_in(&traces, &err);
    if (!settled) {
        cc_log(CC_LOG_ERROR, "%s", err.text);
    } else {
        say_start(&launch->settings->process);
        code = launch->settings->process.master ? cc_master_run(&traces.launch, forget, &traces)
                                                : cc_alone_run(launch, tidy_in_a_hurry, &traces);
    }
    if (getpid() == traces.owner) {
        tidy(&traces, traces.launch->settings->process.vacuum || code != CC_EXIT_OK);
        if (settled)
            cc_log(CC_LOG_INFO, "stopped");
    }
    forget(&traces);
    cc_process_release(traces.launch);
    return code;
}
