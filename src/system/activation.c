/* See activation.h. */
#include "system/activation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/address.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/span.h"

#define FIRST_FD 3
#define MOST     1024 /* a number in the environment is nobody's promise */

static bool variable_number(const char *name, uint64_t max, uint64_t *number)
{
    const char *text = getenv(name);
    return text != NULL && cc_span_to_number(cc_span_of(text), max, number);
}

/* The next of the names "web:admin", or "". The caller frees it. */
static char *next_name(const char **names)
{
    size_t len = *names == NULL ? 0 : strcspn(*names, ":");
    char *name = cc_strndup(*names == NULL ? "" : *names, len);

    if (*names != NULL)
        *names = (*names)[len] == ':' ? *names + len + 1 : NULL;
    return name;
}

void cc_activation_take(struct cc_activation *activation)
{
    const char *names = getenv("LISTEN_FDNAMES");
    uint64_t pid, count = 0;
    bool ours = variable_number("LISTEN_PID", INT32_MAX, &pid) && (pid_t)pid == getpid() &&
                variable_number("LISTEN_FDS", MOST, &count);

    *activation = (struct cc_activation){0};
    if (ours && count > 0)
        activation->items = cc_alloc_zeroed(count, sizeof *activation->items);
    for (int fd = FIRST_FD; ours && fd < FIRST_FD + (int)count; fd++) {
        cc_fd_cloexec(fd, true);
        activation->items[activation->count++] =
            (struct cc_passed){fd, next_name(&names), cc_format("fd://%d", fd)};
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
}

/* Is the socket bound to that address? */
static bool is_bound_to(int fd, const struct cc_address *address)
{
    struct sockaddr_storage sock = {0};
    socklen_t len = sizeof sock;

    if (getsockname(fd, (struct sockaddr *)&sock, &len) != 0 || address->kind == CC_ADDRESS_FD ||
        sock.ss_family != address->sock.ss_family)
        return false;
    if (address->kind == CC_ADDRESS_UNIX)
        return strcmp(((struct sockaddr_un *)&sock)->sun_path, address->path) == 0;
    if (address->kind == CC_ADDRESS_ABSTRACT)
        return len == address->sock_len && memcmp(&sock, &address->sock, len) == 0;
    char ours[64], theirs[64];
    cc_address_host_text(&sock, theirs, sizeof theirs);
    cc_address_host_text(&address->sock, ours, sizeof ours);
    return cc_address_port(&sock) == cc_address_port(&address->sock) && strcmp(ours, theirs) == 0;
}

static bool is_meant(const struct cc_passed *passed, const struct cc_address *address)
{
    if (address->kind != CC_ADDRESS_FD)
        return is_bound_to(passed->fd, address);
    return address->fd >= 0 ? address->fd == passed->fd : strcmp(address->path, passed->name) == 0;
}

static void add(struct cc_server_settings *settings, const struct cc_socket_setting *setting)
{
    settings->sockets =
        cc_realloc(settings->sockets, (settings->n_sockets + 1) * sizeof *settings->sockets);
    settings->sockets[settings->n_sockets++] = *setting;
}

static void complain_of_name(const struct cc_activation *activation,
                             const struct cc_socket_setting *setting, struct cc_problems *problems)
{
    struct cc_buf names = {0};

    for (size_t i = 0; i < activation->count; i++)
        cc_buf_printf(&names, "%s\"%s\"", i == 0 ? "" : ", ", activation->items[i].name);
    cc_problems_add(
        problems, CC_ERROR, setting->place,
        "%s: no socket named \"%s\" was passed (FileDescriptorName= in the .socket "
        "unit); %s%s",
        setting->option, setting->address + strlen("fd://"),
        activation->count == 0 ? "none was passed at all" : "passed: ", cc_buf_text(&names));
    cc_buf_clear(&names);
}

/* Gives the setting its descriptors and marks them as taken. */
static void assign(const struct cc_activation *activation, bool *taken, size_t at,
                   struct cc_server_settings *settings, struct cc_problems *problems)
{
    struct cc_socket_setting setting = settings->sockets[at];
    struct cc_address address;
    bool found = false;

    if (!cc_address_parse(setting.address, &address, NULL))
        return;
    for (size_t i = 0; i < activation->count; i++) {
        if (taken[i] || !is_meant(&activation->items[i], &address))
            continue;
        taken[i] = true;
        setting.fd = activation->items[i].fd;
        if (found)
            add(settings, &setting);
        else
            settings->sockets[at] = setting;
        found = true;
    }
    if (address.kind != CC_ADDRESS_FD || address.fd >= 0 || found)
        return;
    settings->sockets[at].fd = -1;
    complain_of_name(activation, &setting, problems);
}

void cc_activation_assign(const struct cc_activation *activation,
                          struct cc_server_settings *settings, struct cc_problems *problems)
{
    size_t configured = settings->n_sockets;
    bool *taken = cc_alloc_zeroed(activation->count + 1, sizeof *taken);

    for (size_t i = 0; i < configured; i++)
        assign(activation, taken, i, settings, problems);
    for (size_t i = 0; i < activation->count; i++)
        if (!taken[i])
            add(settings, &(struct cc_socket_setting){.address = activation->items[i].address,
                                                      .protocol = settings->protocol,
                                                      .option = "socket activation",
                                                      .fd = activation->items[i].fd});
    free(taken);
}

void cc_activation_clear(struct cc_activation *activation)
{
    for (size_t i = 0; i < activation->count; i++) {
        free(activation->items[i].name);
        free(activation->items[i].address);
    }
    free(activation->items);
    *activation = (struct cc_activation){0};
}
