/* See process.h. The order is the point here: what needs root comes before its end, and all of it
 * before the first line of app code. */
#include "process/process.h"

#include <config.h>

#include <unistd.h>

#include "base/alloc.h"
#include "base/cgroup.h"
#include "log/log.h"
#include "process/alone.h"
#include "process/master.h"
#include "process/signals.h"
#include "system/capabilities.h"
#include "system/confine.h"
#include "system/daemon.h"
#include "system/identity.h"
#include "system/notify.h"
#include "system/pidfile.h"
#include "system/procname.h"
#include "system/surroundings.h"

/* What has to be tidied up at the end, by the process that made it. */
struct traces {
    struct cc_launch *launch; /* the one that counts now */
    struct cc_pidfile pidfile, pidfile2;
    pid_t owner;
};

static void tidy(struct traces *traces, bool remove)
{
    struct cc_err err;

    if (!cc_pidfile_close(&traces->pidfile, remove, &err))
        cc_log(CC_LOG_WARN, "vacuum: %s", err.text);
    if (!cc_pidfile_close(&traces->pidfile2, remove, &err))
        cc_log(CC_LOG_WARN, "vacuum: %s", err.text);
    if (remove)
        cc_listeners_unlink(traces->launch->listeners);
}

static void forget(void *data)
{
    struct traces *traces = data;

    cc_pidfile_forget(&traces->pidfile);
    cc_pidfile_forget(&traces->pidfile2);
    cc_daemon_forget();
    cc_notify_end();
}

static void tidy_in_a_hurry(void *data)
{
    struct traces *traces = data;

    tidy(traces, traces->launch->settings->process.vacuum);
}

/* The log file, opened as root where we are root, as uWSGI does: /var/log is root's. */
static bool open_log(const struct cc_settings *settings, struct cc_err *err)
{
    const struct cc_service_settings *service = &settings->service;

    if (service->daemonize != NULL)
        return cc_surroundings_logto("daemonize", service->daemonize, err);
    if (service->daemonize2 != NULL)
        return cc_surroundings_logto("daemonize2", service->daemonize2, err);
    return cc_surroundings_logto("logto", settings->log.logto, err);
}

/* The walls, from the outermost on; after the last of these nothing of root is left. */
static bool drop_privileges(const struct cc_service_settings *service,
                            const struct cc_identity *identity, struct cc_err *err)
{
    return cc_confine_limits(service, err) && cc_confine_chroot(service->chroot, err) &&
           cc_identity_take(identity, err) &&
           (!service->no_new_privs || cc_confine_privileges(err));
}

static bool settle_in(struct traces *traces, struct cc_err *err)
{
    const struct cc_settings *settings = traces->launch->settings;
    const struct cc_process_settings *process = &settings->process;
    const struct cc_service_settings *service = &settings->service;
    struct cc_identity identity;

    /* In the user database of the old root folder. */
    if (!cc_identity_find(&identity, settings, err))
        return false;
    if (process->pidfile != NULL &&
        !cc_pidfile_write(&traces->pidfile, "pidfile", process->pidfile, err))
        return false;
    if (!open_log(settings, err) || !drop_privileges(service, &identity, err))
        return false;
    if (service->pidfile2 != NULL &&
        !cc_pidfile_write(&traces->pidfile2, "pidfile2", service->pidfile2, err))
        return false;
    return cc_surroundings_logto("logto2", service->logto2, err) &&
           cc_surroundings_chdir(process->chdir, true, err);
}

static void say_limits(const struct cc_process_settings *process)
{
    struct cc_cgroup limits = cc_cgroup_read("");

    if (process->processes_auto)
        cc_log(CC_LOG_INFO, "processes = auto: %d, for %d processors%s", (int)process->processes,
               cc_cgroup_affinity(), limits.cpus > 0 ? " and a CPU quota" : "");
    if (limits.memory > 0)
        cc_log(CC_LOG_INFO, "memory is limited to %lld MiB (control group)",
               (long long)(limits.memory >> 20));
}

static void say_start(const struct cc_process_settings *process)
{
    if (process->master)
        cc_log(CC_LOG_INFO, "%s: master pid %d, %d workers%s", PACKAGE_STRING, (int)getpid(),
               (int)process->processes, process->lazy_apps ? " (lazy-apps)" : "");
    else
        cc_log(CC_LOG_INFO, "%s: pid %d", PACKAGE_STRING, (int)getpid());
    say_limits(process);
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

/* In the background: CC_DAEMON_CHILD. In the foreground: the same, without a fork. */
static enum cc_daemon_side go_to_background(const struct cc_service_settings *service, int *code)
{
    const char *log = service->daemonize != NULL ? service->daemonize : service->daemonize2;
    struct cc_err err;

    if (log == NULL)
        return CC_DAEMON_CHILD;
    enum cc_daemon_side side = cc_daemon_begin(log, code, &err);
    if (side == CC_DAEMON_FAILED)
        cc_log(CC_LOG_ERROR, "%s", err.text);
    return side;
}

static int run_master(struct traces *traces, const struct cc_handover *handover,
                      struct cc_listeners *handed)
{
    const struct cc_master_setup setup = {.launch = &traces->launch,
                                          .in_child = forget,
                                          .data = traces,
                                          .pidfile = &traces->pidfile,
                                          .pidfile2 = &traces->pidfile2,
                                          .handover = handover,
                                          .handed = handed};
    int code = cc_master_run(&setup);

    if (getpid() == traces->owner)
        cc_log(CC_LOG_INFO, "stopped");
    return code;
}

static int serve(struct traces *traces, struct cc_err *err)
{
    const struct cc_settings *settings = traces->launch->settings;

    if (!settle_in(traces, err)) {
        cc_log(CC_LOG_ERROR, "%s", err->text);
        return CC_EXIT_SYSTEM;
    }
    say_start(&settings->process);
    cc_procname_set(&settings->names, settings->process.master ? CC_ROLE_MASTER : CC_ROLE_WORKER,
                    1);
    if (settings->service.daemonize2 == NULL)
        cc_daemon_ready();
    if (settings->process.master)
        return run_master(traces, NULL, NULL);
    int code = cc_alone_run(traces->launch, tidy_in_a_hurry, traces);
    cc_log(CC_LOG_INFO, "stopped");
    return code;
}

/* The end in every process. Returns its exit code. */
static int leave(struct traces *traces, int code)
{
    if (getpid() == traces->owner)
        tidy(traces, traces->launch->settings->process.vacuum || code != CC_EXIT_OK);
    forget(traces);
    cc_process_release(traces->launch);
    return code;
}

int cc_process_run(struct cc_launch *launch)
{
    const struct cc_service_settings *service = &launch->settings->service;
    struct traces traces = {.launch = launch, .pidfile.fd = -1, .pidfile2.fd = -1};
    struct cc_err err = {.text = ""};
    int code = CC_EXIT_SYSTEM;
    enum cc_daemon_side side = go_to_background(service, &code);

    if (side == CC_DAEMON_PARENT) {
        cc_process_release(launch);
        return code;
    }
    traces.owner = getpid();
    cc_signals_reset();
    cc_notify_begin(-1);
    if (side == CC_DAEMON_CHILD)
        code = serve(&traces, &err);
    return leave(&traces, code);
}

static struct cc_pidfile take_pidfile(const struct cc_handed_file *handed)
{
    return (struct cc_pidfile){handed->fd, handed->text == NULL ? NULL : cc_strdup(handed->text)};
}

int cc_process_adopt(struct cc_launch *launch, const struct cc_handover *handover,
                     struct cc_listeners *handed)
{
    struct traces traces = {.launch = launch,
                            .pidfile = take_pidfile(&handover->pidfile),
                            .pidfile2 = take_pidfile(&handover->pidfile2),
                            .owner = getpid()};

    cc_signals_reset();
    cc_notify_begin(handover->notify);
    if (!cc_capabilities_over_exec(false))
        cc_log(CC_LOG_WARN, "upgrade: programs that the app runs have its capabilities: %m");
    cc_log(CC_LOG_INFO, "upgrade: %s, master pid %d, takes over from %s", PACKAGE_STRING,
           (int)getpid(), handover->from);
    cc_procname_set(&launch->settings->names, CC_ROLE_MASTER, 1);
    return leave(&traces, run_master(&traces, handover, handed));
}
