/* See process.h. The order is the point here: what needs root comes before its end, and all of it
 * before the first line of app code. */
#include "process/process.h"

#include <config.h>

#include <fcntl.h>
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
    const struct cc_launch *launch;
    struct cc_pidfile pidfile;
    int start_folder; /* relative addresses and paths are meant from here; -1: unknown */
    pid_t owner;
};

static void tidy(struct traces *traces, bool remove)
{
    struct cc_err err;

    /* Without a master the app's folder is ours by now. */
    if (remove && traces->start_folder >= 0 && fchdir(traces->start_folder) != 0)
        cc_log(CC_LOG_WARN, "vacuum: the folder of the start is out of reach: %m");
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
    if (traces->start_folder >= 0)
        close(traces->start_folder);
    traces->start_folder = -1;
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

int cc_process_run(const struct cc_launch *launch)
{
    const struct cc_process_settings *process = &launch->settings->process;
    struct traces traces = {.launch = launch, .pidfile.fd = -1, .owner = getpid()};
    struct cc_err err = {.text = ""};
    int code = CC_EXIT_SYSTEM;

    traces.start_folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    cc_signals_reset();
    cc_notify_begin();
    bool settled = settle_in(&traces, &err);
    if (!settled) {
        cc_log(CC_LOG_ERROR, "%s", err.text);
    } else {
        say_start(process);
        code = process->master ? cc_master_run(launch, forget, &traces)
                               : cc_alone_run(launch, tidy_in_a_hurry, &traces);
    }
    if (getpid() == traces.owner) {
        tidy(&traces, process->vacuum || code != CC_EXIT_OK);
        if (settled)
            cc_log(CC_LOG_INFO, "stopped");
    }
    forget(&traces);
    return code;
}
