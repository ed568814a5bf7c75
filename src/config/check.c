/* See check.h. */
#include "config/check.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/alloc.h"
#include "base/cgroup.h"
#include "base/fd.h"
#include "base/span.h"

#define MOST_PROCESSES 1024 /* as the option's own bound */

struct check {
    struct cc_settings *settings;
    const struct cc_targets *targets;
    struct cc_problems *problems;
};

static struct cc_place place_of(const struct check *check, const char *option)
{
    return cc_targets_origin(check->targets, option).place;
}

static bool was_given(const struct check *check, const char *option)
{
    return cc_targets_origin(check->targets, option).given;
}

/* The same address twice would fail at the second bind with a less clear reason. */
static const struct cc_socket_setting *find_socket(const struct cc_server_settings *server,
                                                   const char *address)
{
    for (size_t i = 0; i < server->n_sockets; i++)
        if (strcmp(server->sockets[i].address, address) == 0)
            return &server->sockets[i];
    return NULL;
}

static void add_socket(const struct check *check, const struct cc_text *text, const char *option,
                       const char *protocol)
{
    struct cc_server_settings *server = &check->settings->server;
    const struct cc_socket_setting *twin = find_socket(server, text->text);
    struct cc_address address;
    struct cc_err err;

    if (!cc_address_parse(text->text, &address, &err)) {
        cc_problems_add(check->problems, CC_ERROR, text->place, "%s: %s", option, err.text);
        return;
    }
    if (twin != NULL && !(address.kind == CC_ADDRESS_INET && cc_address_port(&address.sock) == 0)) {
        char *where = twin->place.file == NULL
                          ? cc_strdup("on the command line")
                          : cc_format("in %s:%d", twin->place.file, twin->place.line);
        cc_problems_add(check->problems, CC_ERROR, text->place,
                        "%s: %s is listened on twice, see %s %s", option, text->text, twin->option,
                        where);
        free(where);
        return;
    }
    server->sockets =
        cc_realloc(server->sockets, (server->n_sockets + 1) * sizeof *server->sockets);
    server->sockets[server->n_sockets++] =
        (struct cc_socket_setting){text->text, protocol, option, text->place, 0};
}

static void check_sockets(const struct check *check)
{
    struct cc_server_settings *server = &check->settings->server;
    const struct {
        const struct cc_texts *texts;
        const char *option, *protocol;
    } kinds[] = {
        {&server->socket, "socket", server->protocol},
        {&server->uwsgi_socket, "uwsgi-socket", "uwsgi"},
        {&server->http, "http", "http"},
        {&server->http_socket, "http-socket", "http"},
        {&server->http11_socket, "http11-socket", "http"},
    };

    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (size_t i = 0; i < kinds[kind].texts->count; i++)
            add_socket(check, &kinds[kind].texts->items[i], kinds[kind].option,
                       kinds[kind].protocol);
}

void cc_check_listens(const struct cc_server_settings *server, struct cc_place first,
                      struct cc_problems *problems)
{
    if (server->socket.count + server->uwsgi_socket.count + server->http.count +
            server->http_socket.count + server->http11_socket.count >
        0)
        return;
    cc_problems_add(problems, CC_ERROR, first,
                    "there is no socket to listen on: add one, for example \"http = "
                    "127.0.0.1:8000\" for browsers or \"socket = /run/app.sock\" for nginx");
}

static void check_protocol(const struct check *check, const char *const *protocols)
{
    const char *asked = check->settings->server.protocol;

    for (; *protocols != NULL; protocols++)
        if (strcmp(asked, *protocols) == 0)
            return;
    cc_problems_add(check->problems, CC_ERROR, place_of(check, "protocol"),
                    "protocol: expected uwsgi or http, got \"%s\"", asked);
    /* So that no socket complains about it once more. */
    free(check->settings->server.protocol);
    check->settings->server.protocol = cc_strdup("uwsgi");
}

static void check_mode(const struct check *check, const char *option, const char *mode)
{
    if (mode == NULL)
        return;
    size_t len = strlen(mode);
    if (len == 0 || len > 4 || mode[strspn(mode, "01234567")] != '\0')
        cc_problems_add(check->problems, CC_ERROR, place_of(check, option),
                        "%s: expected an octal mode such as %s, got \"%s\"", option,
                        strcmp(option, "umask") == 0 ? "027" : "660", mode);
}

/* Rights on an abstract socket do not exist. */
static void check_abstract(const struct check *check)
{
    const struct cc_server_settings *server = &check->settings->server;
    const char *option = server->chmod_socket != NULL   ? "chmod-socket"
                         : server->chown_socket != NULL ? "chown-socket"
                                                        : NULL;

    for (size_t i = 0; i < server->n_sockets && option != NULL; i++)
        if (server->sockets[i].address[0] == '@')
            cc_problems_add(check->problems, CC_WARNING, place_of(check, option),
                            "%s: does nothing for the abstract socket %s, to which everybody on "
                            "this machine may connect; a path would have rights",
                            option, server->sockets[i].address);
}

/* The log file has one name. */
static void check_daemonize(const struct check *check)
{
    const struct cc_service_settings *service = &check->settings->service;
    const char *option = service->daemonize2 != NULL ? "daemonize2" : "daemonize";

    if (service->daemonize != NULL && service->daemonize2 != NULL)
        cc_problems_add(check->problems, CC_ERROR, place_of(check, "daemonize2"),
                        "daemonize2: daemonize is there already; keep one of them");
    else if ((service->daemonize != NULL || service->daemonize2 != NULL) &&
             check->settings->log.logto != NULL)
        cc_problems_add(check->problems, CC_WARNING, place_of(check, "logto"),
                        "logto: ignored, since %s names the log file", option);
}

static void check_chroot(const struct check *check)
{
    if (check->settings->service.chroot != NULL && check->settings->process.vacuum)
        cc_problems_add(check->problems, CC_WARNING, place_of(check, "vacuum"),
                        "vacuum: what lies outside of the new root folder (chroot) cannot be "
                        "removed at the end");
}

/* processes = auto. */
static void settle_processes(const struct check *check)
{
    struct cc_process_settings *process = &check->settings->process;

    process->processes_auto = process->processes == 0;
    if (!process->processes_auto)
        return;
    struct cc_cgroup limits = cc_cgroup_read("");
    process->processes = cc_cgroup_processes(&limits, cc_cgroup_affinity());
    if (process->processes > MOST_PROCESSES)
        process->processes = MOST_PROCESSES;
}

static bool is_number(const char *text)
{
    uint64_t number;
    return cc_span_to_number(cc_span_of(text), UINT32_MAX - 1, &number);
}

static void check_user(const struct check *check, const char *option, const char *name)
{
    if (name != NULL && name[0] != '\0' && !is_number(name) && getpwnam(name) == NULL)
        cc_problems_add(check->problems, CC_ERROR, place_of(check, option),
                        "%s: there is no user \"%s\" on this machine", option, name);
}

static void check_group(const struct check *check, const char *option, const char *name)
{
    if (name != NULL && name[0] != '\0' && !is_number(name) && getgrnam(name) == NULL)
        cc_problems_add(check->problems, CC_ERROR, place_of(check, option),
                        "%s: there is no group \"%s\" on this machine", option, name);
}

static void check_identity(const struct check *check)
{
    const char *owner = check->settings->server.chown_socket;
    const struct cc_texts *groups = &check->settings->service.add_gid;

    check_user(check, "uid", check->settings->process.uid);
    check_group(check, "gid", check->settings->process.gid);
    for (size_t i = 0; i < groups->count; i++)
        check_group(check, "add-gid", groups->items[i].text);
    if (owner == NULL)
        return;
    size_t len = strcspn(owner, ": ");
    char *user = cc_strndup(owner, len);
    check_user(check, "chown-socket", user);
    if (owner[len] != '\0')
        check_group(check, "chown-socket", owner + len + 1);
    free(user);
}

/* The kernel cuts a longer queue without a word; uWSGI does not start with one. */
static void check_listen(const struct check *check)
{
    size_t len;
    char *text = cc_fd_read_file("/proc/sys/net/core/somaxconn", 64, &len);
    int64_t most = text == NULL ? 0 : strtoll(text, NULL, 10);

    free(text);
    if (most > 0 && check->settings->server.listen > most)
        cc_problems_add(check->problems, CC_WARNING, place_of(check, "listen"),
                        "listen: the kernel makes it %lld, as net.core.somaxconn says: raise that "
                        "one too (sysctl -w net.core.somaxconn=%lld)",
                        (long long)most, (long long)check->settings->server.listen);
}

static void check_env(const struct check *check)
{
    const struct cc_texts *env = &check->settings->process.env;

    for (size_t i = 0; i < env->count; i++) {
        const char *equals = strchr(env->items[i].text, '=');
        if (equals == NULL || equals == env->items[i].text)
            cc_problems_add(check->problems, CC_ERROR, env->items[i].place,
                            "env: expected NAME=value, got \"%s\"", env->items[i].text);
    }
}

/* Seconds that a replaced worker gets, where worker-reload-mercy is not given: uWSGI's time.
 * Nothing presses, since another serves already. */
#define REPLACED_MERCY_S 60

static void check_life(const struct check *check)
{
    struct cc_life_settings *life = &check->settings->life;

    life->mercy = was_given(check, "worker-reload-mercy") ? check->settings->process.worker_mercy
                                                          : REPLACED_MERCY_S;
    if (life->die_on_idle && life->idle == 0)
        cc_problems_add(check->problems, CC_WARNING, place_of(check, "die-on-idle"),
                        "die-on-idle: does nothing without idle, the time after which it happens");
    if (life->max_lifetime == 0 || life->min_lifetime < life->max_lifetime)
        return;
    if (was_given(check, "min-worker-lifetime"))
        cc_problems_add(check->problems, CC_ERROR, place_of(check, "min-worker-lifetime"),
                        "min-worker-lifetime: expected less than max-worker-lifetime (%lld), got "
                        "%lld",
                        (long long)life->max_lifetime, (long long)life->min_lifetime);
    life->min_lifetime = 0;
}

/* As in uWSGI: they go around a name, and do not ask for one. */
static void check_names(const struct check *check)
{
    static const char *const around[] = {"procname-prefix", "procname-prefix-spaced",
                                         "procname-append"};
    const struct cc_name_settings *names = &check->settings->names;

    if (names->automatic || names->all != NULL || names->master != NULL)
        return;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        if (was_given(check, around[i]))
            cc_problems_add(check->problems, CC_WARNING, place_of(check, around[i]),
                            "%s: does nothing without a name: add auto-procname = true", around[i]);
}

static void refuse_cheaper(const struct check *check, const char *option, int64_t value,
                           const char *expected)
{
    cc_problems_add(check->problems, CC_ERROR, place_of(check, option), "%s: expected %s, got %lld",
                    option, expected, (long long)value);
}

static void check_cheaper(const struct check *check)
{
    struct cc_cheaper_settings *cheaper = &check->settings->cheaper;
    int64_t most = check->settings->process.processes;

    if (cheaper->least > 0 && cheaper->least >= most)
        refuse_cheaper(check, "cheaper", cheaper->least,
                       "less than processes, the largest number of workers");
    if (cheaper->initial > most)
        refuse_cheaper(check, "cheaper-initial", cheaper->initial, "no more than processes");
    if (cheaper->initial < cheaper->least)
        cheaper->initial = cheaper->least;
    if (cheaper->rss_hard > 0 && cheaper->rss_hard <= cheaper->rss_soft)
        refuse_cheaper(check, "cheaper-rss-limit-hard", cheaper->rss_hard,
                       "more than cheaper-rss-limit-soft");
    if (cheaper->rss_hard > 0 && cheaper->rss_soft == 0)
        refuse_cheaper(check, "cheaper-rss-limit-hard", cheaper->rss_hard,
                       "cheaper-rss-limit-soft to be set as well");
    if (cheaper->busyness_min >= cheaper->busyness_max)
        refuse_cheaper(check, "cheaper-busyness-min", cheaper->busyness_min,
                       "less than cheaper-busyness-max");
    if (cheaper->least == 0 && was_given(check, "cheaper-algo"))
        cc_problems_add(check->problems, CC_WARNING, place_of(check, "cheaper-algo"),
                        "cheaper-algo: does nothing without cheaper, the least number of workers");
}

/* What needs a process that watches over the others; NULL: nothing. */
static const char *needs_master(const struct cc_settings *settings)
{
    const struct cc_life_settings *life = &settings->life;
    const struct cc_reload_settings *reload = &settings->reload;
    const struct {
        int64_t value;
        const char *option;
    } options[] = {
        {settings->process.processes - 1, "processes"},
        {settings->process.harakiri, "harakiri"},
        {getpid() == 1, "being process 1 (of a container)"},
        {life->max_requests, "max-requests"},
        {life->max_lifetime, "max-worker-lifetime"},
        {life->rss_mb, "reload-on-rss"},
        {life->as_mb, "reload-on-as"},
        {life->evil_rss_mb, "evil-reload-on-rss"},
        {life->evil_as_mb, "evil-reload-on-as"},
        {life->cheap, "cheap"},
        {life->idle, "idle"},
        {(int64_t)reload->touch_reload.count, "touch-reload"},
        {(int64_t)reload->touch_chain.count, "touch-chain-reload"},
        {(int64_t)reload->touch_workers.count, "touch-workers-reload"},
        {(int64_t)reload->touch_logreopen.count, "touch-logreopen"},
        {(int64_t)reload->master_fifo.count, "master-fifo"},
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].value > 0)
            return options[i].option;
    return NULL;
}

static void check_health(const struct check *check)
{
    const char *path = check->settings->server.health_path;

    if (path != NULL && path[0] != '/')
        cc_problems_add(check->problems, CC_ERROR, place_of(check, "health-path"),
                        "health-path: expected a path that begins with /, got \"%s\"", path);
}

static void imply_master(const struct check *check)
{
    struct cc_process_settings *process = &check->settings->process;
    const char *why = needs_master(check->settings);

    if (process->master || why == NULL)
        return;
    process->master = true;
    if (was_given(check, "master"))
        cc_problems_add(check->problems, CC_WARNING, place_of(check, "master"),
                        "master: runs in spite of this, since %s needs it", why);
}

/* uWSGI has both times, and most files set one of them. */
static void complete_mercy(const struct check *check)
{
    struct cc_settings *settings = check->settings;
    bool reload = was_given(check, "reload-mercy");
    bool worker = was_given(check, "worker-reload-mercy");

    if (reload && !worker)
        settings->process.worker_mercy = settings->reload.mercy;
    if (worker && !reload && settings->reload.mercy < settings->process.worker_mercy)
        settings->reload.mercy = settings->process.worker_mercy;
}

void cc_check(struct cc_settings *settings, const struct cc_targets *targets,
              const char *const *protocols, struct cc_problems *problems)
{
    struct check check = {settings, targets, problems};

    check_protocol(&check, protocols);
    check_sockets(&check);
    check_mode(&check, "chmod-socket", settings->server.chmod_socket);
    check_mode(&check, "umask", settings->service.umask);
    check_abstract(&check);
    check_daemonize(&check);
    check_chroot(&check);
    settle_processes(&check);
    check_identity(&check);
    check_listen(&check);
    check_env(&check);
    check_life(&check);
    check_names(&check);
    check_cheaper(&check);
    check_health(&check);
    imply_master(&check);
    complete_mercy(&check);
}

void cc_check_clear(struct cc_settings *settings)
{
    free(settings->server.sockets);
    settings->server.sockets = NULL;
    settings->server.n_sockets = 0;
}
