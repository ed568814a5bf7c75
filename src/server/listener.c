/* See listener.h. */
#include "server/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "log/log.h"
#include "server/kept.h"
#include "server/unix_socket.h"

static bool bind_and_listen(struct cc_listener *listener, int64_t backlog, struct cc_err *err)
{
    const struct cc_address *address = &listener->address;
    int one = 1;

    listener->fd = socket(address->sock.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->fd < 0)
        return cc_fail(err, "cannot make a socket: %s", strerror(errno));
    if (address->kind == CC_ADDRESS_INET) {
        setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        /* Accepted sockets inherit it, which saves a call for each. */
        setsockopt(listener->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    if (bind(listener->fd, (const struct sockaddr *)&address->sock, address->sock_len) != 0) {
        const char *hint = errno == EADDRINUSE ? ": another program is listening there"
                           : errno == EACCES   ? ": this user may not; ports below 1024 are "
                                                 "root's, a path needs a writable folder"
                           : errno == ENOENT   ? ": the folder does not exist"
                                               : "";
        return cc_fail(err, "cannot listen on %s: %s%s", listener->setting->address,
                       strerror(errno), hint);
    }
    if (listen(listener->fd, (int)backlog) != 0)
        return cc_fail(err, "cannot listen on %s: %s", listener->setting->address, strerror(errno));
    return true;
}

static bool is_stream(int fd)
{
    int family = 0, type = 0;
    socklen_t size = sizeof family;

    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        return false;
    return type == SOCK_STREAM && (family == AF_UNIX || family == AF_INET || family == AF_INET6);
}

/* A socket that systemd, a supervisor or a shell opened; its file, if it has one, is theirs. */
static bool inherit(struct cc_listener *listener, struct cc_err *err)
{
    int listening = 0;
    socklen_t size = sizeof listening;
    int fd = listener->setting->fd > 0 ? listener->setting->fd : listener->address.fd;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0)
        return cc_fail(err, "descriptor %d is no socket: %s", fd, strerror(errno));
    if (!is_stream(fd))
        return cc_fail(err,
                       "descriptor %d is no stream socket (tcp or unix); a .socket unit wants "
                       "ListenStream=",
                       fd);
    if (!listening)
        return cc_fail(err,
                       "descriptor %d is a socket that does not listen; a .socket unit wants "
                       "Accept=no",
                       fd);
    /* One of our own: the number stays good for the next reload, whatever becomes of this one. */
    listener->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (listener->fd < 0)
        return cc_fail(err, "descriptor %d cannot be taken over: %s", fd, strerror(errno));
    listener->passed = fd;
    listener->address.kind = CC_ADDRESS_FD;
    cc_fd_nonblock(fd, true);
    cc_fd_cloexec(fd, true);
    return true;
}

static void name_server(struct cc_listener *listener)
{
    struct sockaddr_storage sock = {0};
    socklen_t len = sizeof sock;
    int port = 0;

    if (getsockname(listener->fd, (struct sockaddr *)&sock, &len) == 0)
        port = cc_address_port(&sock);
    if (gethostname(listener->server_name, sizeof listener->server_name - 1) != 0)
        snprintf(listener->server_name, sizeof listener->server_name, "localhost");
    /* PEP 3333 wants both, and neither empty. */
    snprintf(listener->server_port, sizeof listener->server_port, "%d", port == 0 ? 80 : port);
}

static bool open_one(struct cc_listener *listener, const struct cc_server_settings *settings,
                     const struct cc_plugins *plugins, struct cc_listeners *before,
                     struct cc_err *err)
{
    const struct cc_loaded *protocol = cc_plugins_protocol(plugins, listener->setting->protocol);

    if (protocol == NULL)
        return cc_fail(err, "the protocol \"%s\" is not loaded", listener->setting->protocol);
    listener->protocol = protocol->plugin->ops.protocol;
    listener->protocol_settings = protocol->settings;
    if (!cc_address_parse(listener->setting->address, &listener->address, err))
        return false;
    if (before != NULL && cc_kept_take(listener, before, settings->listen)) {
        name_server(listener);
        return true;
    }
    if (before != NULL && listener->address.kind == CC_ADDRESS_FD && listener->setting->fd == 0)
        return cc_fail(err, "a descriptor can only be handed over at a start, not at a reload");
    bool open;
    if (listener->setting->fd > 0 || listener->address.kind == CC_ADDRESS_FD)
        open = inherit(listener, err);
    else if (listener->address.kind == CC_ADDRESS_UNIX)
        open = cc_unix_socket_open(&listener->address, settings, &listener->fd, err);
    else
        open = bind_and_listen(listener, settings->listen, err);
    if (!open)
        return false;
    name_server(listener);
    cc_kept_note_file(listener);
    return true;
}

void cc_listeners_open(struct cc_listeners *listeners, const struct cc_server_settings *settings,
                       const struct cc_plugins *plugins, struct cc_listeners *before,
                       struct cc_problems *problems)
{
    listeners->items = cc_alloc_zeroed(settings->n_sockets, sizeof *listeners->items);
    listeners->count = 0;
    for (size_t i = 0; before != NULL && i < before->count; i++)
        before->items[i].claimed = false;
    for (size_t i = 0; i < settings->n_sockets; i++) {
        struct cc_listener *listener = &listeners->items[listeners->count];
        struct cc_err err;

        if (settings->sockets[i].fd < 0)
            continue;
        listener->fd = -1;
        listener->setting = &settings->sockets[i];
        if (open_one(listener, settings, plugins, before, &err)) {
            listeners->count++;
            continue;
        }
        cc_problems_add(problems, CC_ERROR, settings->sockets[i].place, "%s: %s",
                        settings->sockets[i].option, err.text);
        if (listener->fd >= 0)
            close(listener->fd);
        free(listener->file);
        *listener = (struct cc_listener){0};
    }
}

void cc_listeners_unlink(const struct cc_listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++) {
        const char *path = listeners->items[i].file;
        if (path != NULL && unlink(path) != 0 && errno != ENOENT)
            cc_log(CC_LOG_WARN, "vacuum: the socket %s cannot be removed: %s", path,
                   strerror(errno));
    }
}

void cc_listeners_close(struct cc_listeners *listeners, bool unlink_files)
{
    if (unlink_files)
        cc_listeners_unlink(listeners);
    for (size_t i = 0; i < listeners->count; i++) {
        close(listeners->items[i].fd);
        free(listeners->items[i].file);
    }
    free(listeners->items);
    *listeners = (struct cc_listeners){0};
}
