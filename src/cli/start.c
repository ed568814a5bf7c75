/* See start.h. */
#include "cli/start.h"

#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/document.h"
#include "cli/help.h"
#include "cli/plugins.h"
#include "cli/reread.h"
#include "cli/show_config.h"
#include "config/apply.h"
#include "config/check.h"
#include "config/expand.h"
#include "config/options_core.h"
#include "log/log.h"
#include "process/process.h"
#include "system/confine.h"
#include "system/identity.h"
#include "system/pidfile.h"
#include "system/surroundings.h"

struct cc_start *cc_start_new(const struct cc_invocation *invocation, bool again)
{
    struct cc_start *start = cc_alloc_zeroed(1, sizeof *start);

    start->invocation = invocation;
    start->argv = cc_invocation_copy(invocation->argv);
    start->again = again;
    start->folder = -1;
    return start;
}

static int usage_error(const struct cc_err *err)
{
    fprintf(stderr, "ccontainer: %s\n", err->text);
    return CC_EXIT_USAGE;
}

/* The configuration's first file, for what no option is to blame for. */
static struct cc_place first_place(const struct cc_start *start)
{
    for (size_t i = 0; i < start->entries.count; i++)
        if (start->entries.items[i].place.line > 0) /* the environment has no lines */
            return (struct cc_place){start->entries.items[i].place.file, 0};
    return (struct cc_place){0};
}

static void add_plugin_tables(struct cc_start *start)
{
    for (size_t i = 0; i < start->plugins.count; i++)
        cc_targets_add(&start->targets, start->plugins.items[i].plugin->options,
                       start->plugins.items[i].settings);
}

/* help, version and the documents need every table that can be had, and no configuration. */
static int run_command(struct cc_start *start)
{
    cc_plugins_open_all(&start->plugins, &start->entries, first_place(start), &start->problems);
    add_plugin_tables(start);
    switch (start->arguments.command) {
    case CC_HELP:
        return cc_help_print(&start->targets, start->arguments.word, stdout) ? CC_EXIT_OK
                                                                             : CC_EXIT_CONFIG;
    case CC_PRINT_MAN:
    case CC_PRINT_OPTIONS:
        /* With a plugin missing its options would be missing from the pages. */
        if (start->problems.errors > 0) {
            cc_problems_print(&start->problems, CC_ERROR, stderr);
            return CC_EXIT_CONFIG;
        }
        if (start->arguments.command == CC_PRINT_MAN)
            cc_document_man(&start->targets, stdout);
        else
            cc_document_markdown(&start->targets, stdout);
        return CC_EXIT_OK;
    default:
        printf("%s\n", PACKAGE_STRING);
        return CC_EXIT_OK;
    }
}

/* Entries, whole and with everything replaced. */
static bool read_entries(struct cc_start *start, struct cc_err *err)
{
    struct cc_loader loader;

    cc_options_core_add(&start->targets, &start->settings);
    cc_loader_init(&loader, &start->entries, &start->problems);
    if (start->again)
        loader.read_file = cc_load_read_regular;
    bool fine = cc_arguments_read(&start->arguments, start->argv, &loader, &start->targets, err);
    if (fine && start->arguments.command == CC_RUN)
        cc_expand(&loader);
    cc_loader_clear(&loader);
    return fine;
}

static int print_and_exit(const struct cc_start *start)
{
    if (start->problems.errors > 0) {
        cc_problems_print(&start->problems, CC_ERROR, stderr);
        return CC_EXIT_CONFIG;
    }
    cc_show_config(&start->entries, stderr);
    return CC_EXIT_OK;
}

static void blame(struct cc_start *start, const char *option, const struct cc_err *err)
{
    cc_problems_add(&start->problems, CC_ERROR, cc_targets_origin(&start->targets, option).place,
                    "%s", err->text);
}

/* Whom the sockets will belong to. Names that do not exist were found by the check. */
static void find_owner(struct cc_start *start)
{
    struct cc_server_settings *server = &start->settings.server;
    struct cc_identity identity;
    struct cc_err err;

    if (start->problems.errors > 0)
        return;
    if (!cc_identity_find(&identity, &start->settings, &err)) {
        blame(start, identity.wrong, &err);
        return;
    }
    server->owner_uid = identity.socket_uid == (uid_t)-1 ? -1 : (int64_t)identity.socket_uid;
    server->owner_gid = identity.socket_gid == (gid_t)-1 ? -1 : (int64_t)identity.socket_gid;
    server->owner_known = server->owner_uid >= 0 || server->owner_gid >= 0;
}

int cc_start_read(struct cc_start *start)
{
    static const char *const protocols[] = {"uwsgi", "http", NULL};
    struct cc_err err;

    if (!read_entries(start, &err))
        return usage_error(&err);
    if (start->arguments.command != CC_RUN)
        return run_command(start);
    if (!start->again)
        cc_log_find_journal();
    if (!start->arguments.any && start->entries.count == 0) {
        cc_help_usage(stderr);
        return CC_EXIT_USAGE;
    }
    if (start->arguments.show_config && start->arguments.n_pending == 0)
        return print_and_exit(start);
    bool readable = start->problems.errors == 0;
    cc_plugins_open_all(&start->plugins, &start->entries, first_place(start), &start->problems);
    add_plugin_tables(start);
    if (!cc_arguments_settle(&start->arguments, &start->targets, &err))
        return usage_error(&err);
    if (start->arguments.show_config)
        return print_and_exit(start);
    cc_apply(&start->entries, &start->targets, &start->problems);
    cc_check(&start->settings, &start->targets, protocols, &start->problems);
    cc_activation_assign(&start->invocation->activation, &start->settings.server, &start->problems);
    if (readable && start->invocation->activation.count == 0)
        cc_check_listens(&start->settings.server, first_place(start), &start->problems);
    find_owner(start);
    if (start->settings.show_config && !start->again)
        cc_show_config(&start->entries, stderr);
    return CC_START_GO_ON;
}

/* Makes a path independent of the working directory, which chdir changes. */
static void make_absolute(const struct cc_start *start, char **path)
{
    const char *folder = start->invocation->folder;

    if (*path == NULL || (*path)[0] == '/' || folder == NULL)
        return;
    char *whole = cc_format("%s/%s", folder, *path);
    free(*path);
    *path = whole;
}

static void make_list_absolute(const struct cc_start *start, struct cc_texts *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        make_absolute(start, &paths->items[i].text);
}

char *cc_start_first_file(const struct cc_start *start)
{
    const char *name = first_place(start).file;
    char *path = name == NULL ? NULL : cc_strdup(name);

    make_absolute(start, &path);
    return path;
}

/* As in uWSGI, relative sockets lie below chdir, while pidfile and logto lie below the folder that
 * the server was started in. */
static void enter_folder(struct cc_start *start)
{
    struct cc_process_settings *process = &start->settings.process;
    struct cc_reload_settings *reload = &start->settings.reload;
    struct cc_service_settings *service = &start->settings.service;

    make_absolute(start, &process->pidfile);
    make_absolute(start, &service->pidfile2);
    make_absolute(start, &service->daemonize);
    make_absolute(start, &service->daemonize2);
    make_absolute(start, &service->logto2);
    make_absolute(start, &service->chroot);
    make_absolute(start, &start->settings.log.logto);
    make_list_absolute(start, &reload->touch_reload);
    make_list_absolute(start, &reload->touch_chain);
    make_list_absolute(start, &reload->touch_workers);
    make_list_absolute(start, &reload->touch_logreopen);
    make_list_absolute(start, &reload->master_fifo);
    start->file = cc_start_first_file(start);
    if (process->chdir == NULL || service->chroot != NULL)
        return; /* a folder in the new root is entered there */
    make_absolute(start, &process->chdir);
    if (chdir(process->chdir) != 0)
        cc_problems_add(&start->problems, CC_ERROR,
                        cc_targets_origin(&start->targets, "chdir").place,
                        "chdir: cannot enter %s: %s", process->chdir, strerror(errno));
}

/* What would fail later, when it has no place in a file any more. Those that are opened by another
 * user or in another root folder have to wait for that. */
static void try_files(struct cc_start *start)
{
    const struct cc_service_settings *service = &start->settings.service;
    const struct {
        const char *option, *path;
        bool (*try)(const char *option, const char *path, struct cc_err *err);
    } files[] = {
        {"pidfile", start->settings.process.pidfile, cc_pidfile_try},
        {"logto", start->settings.log.logto, cc_surroundings_try_log},
        {"daemonize", service->daemonize, cc_surroundings_try_log},
        {"daemonize2", service->daemonize2, cc_surroundings_try_log},
    };
    struct cc_err err;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].path != NULL && !files[i].try(files[i].option, files[i].path, &err))
            blame(start, files[i].option, &err);
}

void cc_start_enter(struct cc_start *start, struct cc_listeners *before)
{
    cc_confine_umask(start->settings.service.umask);
    enter_folder(start);
    if (!start->again)
        try_files(start);
    cc_listeners_open(&start->listeners, &start->settings.server, &start->plugins, before,
                      &start->problems);
    start->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    start->launch = (struct cc_launch){&start->settings, &start->plugins, &start->listeners,
                                       start->file,      &start->entries, &cc_reread_source};
}

int cc_start_open(struct cc_start *start)
{
    cc_start_enter(start, NULL);
    cc_problems_print(&start->problems, CC_WARNING, stderr);
    if (start->problems.errors == 0)
        return CC_START_GO_ON;
    /* A start that fails leaves nothing behind. */
    cc_listeners_close(&start->listeners, true);
    return CC_EXIT_CONFIG;
}

/* The address with the port that the system chose for port 0. */
static void announce_one(const struct cc_listener *listener)
{
    struct sockaddr_storage sock = {0};
    socklen_t len = sizeof sock;
    const char *protocol = listener->setting->protocol;
    char host[64];

    if (listener->address.kind == CC_ADDRESS_UNIX ||
        listener->address.kind == CC_ADDRESS_ABSTRACT ||
        getsockname(listener->fd, (struct sockaddr *)&sock, &len) != 0 ||
        cc_address_port(&sock) == 0) {
        cc_log(CC_LOG_INFO, "listening on %s (%s)", listener->setting->address, protocol);
        return;
    }
    cc_address_host_text(&sock, host, sizeof host);
    bool v6 = sock.ss_family == AF_INET6;
    cc_log(CC_LOG_INFO, "listening on %s%s%s%s:%d (%s)",
           strcmp(protocol, "http") == 0 ? "http://" : "", v6 ? "[" : "", host, v6 ? "]" : "",
           cc_address_port(&sock), protocol);
}

void cc_start_announce(const struct cc_listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        announce_one(&listeners->items[i]);
}

void cc_start_free(struct cc_start *start)
{
    if (start == NULL)
        return;
    cc_listeners_close(&start->listeners, false);
    cc_check_clear(&start->settings);
    cc_targets_clear(&start->targets);
    cc_plugins_close(&start->plugins);
    cc_problems_clear(&start->problems);
    cc_entries_clear(&start->entries);
    cc_arguments_clear(&start->arguments);
    cc_invocation_free_copy(start->argv);
    if (start->folder >= 0)
        close(start->folder);
    free(start->file);
    free(start);
}
