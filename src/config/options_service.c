/* The host's options of running as a service: background, pidfiles, names, privileges, limits. */
#include "config/options_core.h"
#include "config/settings.h"

#define S        struct cc_settings
#define SINCE    .since = "0.1"
#define IN(part) .section = part, SINCE

static const struct cc_option rows[] = {
    /* Service */
    {CC_PATH_ROW("daemonize", S, service.daemonize), IN("Service"), .restart = true, .letter = 'd',
     .value = "file",
     .help = "Goes into the background once everything but the app is in place, and logs to this "
             "file; what goes wrong before is shown, and in the exit code."},
    {CC_PATH_ROW("daemonize2", S, service.daemonize2), IN("Service"), .restart = true,
     .value = "file",
     .help = "The same once the app is loaded and served: an app that does not load is shown and "
             "in the exit code too."},
    {CC_PATH_ROW("pidfile", S, process.pidfile), IN("Service"), .restart = true,
     .aliases = "safe-pidfile",
     .help = "Writes the master's process id to this file, before privileges are dropped."},
    {CC_PATH_ROW("pidfile2", S, service.pidfile2), IN("Service"), .restart = true,
     .aliases = "safe-pidfile2",
     .help = "Writes the master's process id to this file, after privileges are dropped."},

    {CC_BOOL_ROW("auto-procname", S, names.automatic), IN("Service"), .restart = true,
     .help = "Names the processes in ps and top: ccontainer master, ccontainer app N (which has "
             "loaded the app), ccontainer worker N."},
    {CC_TEXT_ROW("procname", S, names.all), IN("Service"), .restart = true, .value = "name",
     .help = "This name for all processes."},
    {CC_TEXT_ROW("procname-master", S, names.master), IN("Service"), .restart = true,
     .value = "name", .help = "This name for the master."},
    {CC_TEXT_ROW("procname-prefix", S, names.prefix), IN("Service"), .restart = true,
     .value = "text", .help = "Text before each of these names."},
    {CC_TEXT_ROW("procname-prefix-spaced", S, names.prefix_spaced), IN("Service"), .restart = true,
     .value = "text", .help = "The same, and a blank."},
    {CC_TEXT_ROW("procname-append", S, names.append), IN("Service"), .restart = true,
     .value = "text", .help = "Text behind each of these names."},

    /* Privileges */
    {CC_TEXT_ROW("uid", S, process.uid), IN("Privileges"), .restart = true, .value = "user",
     .help = "User to run as, by name or number, once the sockets are bound."},
    {CC_TEXT_ROW("gid", S, process.gid), IN("Privileges"), .restart = true, .value = "group",
     .help = "Group to run as, by name or number; without it the user's own."},
    {CC_LIST_ROW("add-gid", S, service.add_gid), IN("Privileges"), .restart = true,
     .value = "group", .help = "A further group to be in, beside those of the user."},
    {CC_LIST_ROW("cap", S, service.cap), IN("Privileges"), .restart = true,
     .value = "name[,name...]",
     .help = "Capabilities of root that the app keeps (net_bind_service, ...); all others are gone "
             "for good."},
    {CC_PATH_ROW("chroot", S, service.chroot), IN("Privileges"), .restart = true, .value = "folder",
     .help =
         "Makes this the root folder before the app is loaded: all that the app needs, Python's "
         "library too, has to be in it."},
    {CC_BOOL_ROW("no-new-privs", S, service.no_new_privs), IN("Privileges"), .restart = true,
     .fallback = "true",
     .help = "Programs that the app starts get no rights of others by setuid, setgid or "
             "capabilities (sudo, some sendmails). Only ccontainer has it; uWSGI lets them."},
    {CC_TEXT_ROW("umask", S, service.umask), IN("Privileges"), .value = "mode",
     .help = "Octal mask of rights that new files do not get."},
    {CC_INT_ROW("limit-as", S, service.limit_as), IN("Privileges"), .restart = true, .value = "MiB",
     .max = 1 << 30, .help = "Address space of each process, in MiB (RLIMIT_AS). 0: as inherited."},
    {CC_INT_ROW("limit-nproc", S, service.limit_nproc), IN("Privileges"), .restart = true,
     .max = 1 << 30, .help = "Processes and threads of the user (RLIMIT_NPROC). 0: as inherited."},
    {CC_INT_ROW("max-fd", S, service.max_fd), IN("Privileges"), .restart = true, .max = 1 << 30,
     .help = "Descriptors of each process (RLIMIT_NOFILE). 0: as inherited."},
};

const struct cc_option_table cc_options_service = {"core", rows, sizeof rows / sizeof rows[0],
                                                   sizeof(struct cc_settings)};
