/* See control.h. A client is bounded in all that it can cost: one packet in, one out, no waiting
 * for it, and the longest silent one goes when there are too many. */
#include "process/control.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "log/log.h"
#include "process/master_state.h"
#include "process/orders.h"
#include "process/status.h"

socklen_t cc_control_address(struct sockaddr_un *address, int32_t pid)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    /* The first byte is NUL: the name is no file's. */
    int len = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "ccontainer/%d", pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

static void drop(struct cc_control_client *client)
{
    if (client->io.fd < 0)
        return;
    ev_io_stop(client->control->loop, &client->io);
    close(client->io.fd);
    ev_io_set(&client->io, -1, EV_READ);
    client->reload = client->upgrade = 0;
    client->until_the_end = false;
}

static void answer(struct cc_control_client *client, int code, const char *text)
{
    struct cc_buf line = {0};

    cc_buf_printf(&line, "%d %.*s", code, (int)CC_CONTROL_REPLY - 16, text);
    send(client->io.fd, line.at, line.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    cc_buf_clear(&line);
    drop(client);
}

static void answer_status(struct cc_control_client *client, const struct cc_master *master)
{
    struct cc_buf text = {0};

    cc_status_write(master, &text);
    answer(client, 0, cc_buf_text(&text));
    cc_buf_clear(&text);
}

/* By which files this server can be told from others: its first ini, and its pidfile. */
static void answer_who(struct cc_control_client *client, const struct cc_master *master)
{
    const char *pidfile = master->launch->settings->process.pidfile;
    struct cc_buf text = {0};

    cc_buf_printf(&text, "%s\n%s", master->launch->file == NULL ? "" : master->launch->file,
                  pidfile == NULL ? "" : pidfile);
    answer(client, 0, cc_buf_text(&text));
    cc_buf_clear(&text);
}

static void obey(struct cc_control_client *client, const char *word)
{
    struct cc_master *master = ev_userdata(client->control->loop);

    if (strcmp(word, "status") == 0) {
        answer_status(client, master);
    } else if (strcmp(word, "who") == 0) {
        answer_who(client, master);
    } else if (strcmp(word, "stop") == 0) {
        client->until_the_end = true;
        cc_orders_obey(master, CC_ORDER_STOP, "ccontainer stop");
    } else if (strcmp(word, "reload") == 0 && master->stopping) {
        answer(client, 1, "the server is stopping");
    } else if (strcmp(word, "reload") == 0) {
        cc_orders_obey(master, CC_ORDER_RELOAD, "ccontainer reload");
        client->reload = master->reloads_begun + 1;
    } else if (strcmp(word, "upgrade") == 0 && master->stopping) {
        answer(client, 1, "the server is stopping");
    } else if (strcmp(word, "upgrade") == 0) {
        cc_orders_obey(master, CC_ORDER_UPGRADE, "ccontainer upgrade");
        client->upgrade = master->upgrades_ended + 1;
    } else {
        answer(client, 1, "there is no such command");
    }
}

static bool is_waiting(const struct cc_control_client *client)
{
    return client->reload != 0 || client->upgrade != 0 || client->until_the_end;
}

static void on_client(struct ev_loop *loop, ev_io *io, int events)
{
    struct cc_control_client *client = io->data;
    char word[CC_CONTROL_WORD + 1];

    (void)loop;
    (void)events;
    ssize_t got = recv(io->fd, word, sizeof word, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    /* Gone, or it says more than it may. */
    if (got <= 0 || got > CC_CONTROL_WORD || is_waiting(client)) {
        drop(client);
        return;
    }
    word[got] = '\0';
    obey(client, word);
}

/* Root, and the users that we are anyway: who runs our app could signal us too. */
static bool may_command(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid() || peer.uid == getuid());
}

/* A free place, or that of the one that has said nothing for the longest time; NULL: all wait for
 * an answer. */
static struct cc_control_client *find_place(struct cc_control *control)
{
    struct cc_control_client *oldest = NULL;

    for (int i = 0; i < CC_CONTROL_CLIENTS; i++) {
        struct cc_control_client *client = &control->clients[i];
        if (client->io.fd < 0)
            return client;
        if (!is_waiting(client) && (oldest == NULL || client->order < oldest->order))
            oldest = client;
    }
    if (oldest != NULL)
        drop(oldest);
    return oldest;
}

static void on_knock(struct ev_loop *loop, ev_io *io, int events)
{
    struct cc_control *control = io->data;
    int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)events;
    if (fd < 0)
        return;
    struct cc_control_client *client = may_command(fd) ? find_place(control) : NULL;
    if (client == NULL) {
        close(fd);
        return;
    }
    client->order = ++control->arrivals;
    ev_io_set(&client->io, fd, EV_READ);
    ev_io_start(loop, &client->io);
}

static int listen_here(void)
{
    struct sockaddr_un address;
    socklen_t len = cc_control_address(&address, getpid());
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 16) == 0)
        return fd;
    cc_log(CC_LOG_WARN,
           "ccontainer reload, upgrade, stop and status will not reach this server: its socket @%s "
           "cannot be had: %s",
           address.sun_path + 1, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static void begin(struct cc_control *control, struct ev_loop *loop, int fd)
{
    *control = (struct cc_control){.loop = loop};
    for (int i = 0; i < CC_CONTROL_CLIENTS; i++) {
        struct cc_control_client *client = &control->clients[i];
        client->control = control;
        ev_io_init(&client->io, on_client, -1, EV_READ);
        client->io.data = client;
    }
    ev_io_init(&control->io, on_knock, fd, EV_READ);
    control->io.data = control;
    if (control->io.fd >= 0)
        ev_io_start(loop, &control->io);
}

void cc_control_begin(struct cc_control *control, struct ev_loop *loop)
{
    begin(control, loop, listen_here());
}

void cc_control_adopt(struct cc_control *control, struct ev_loop *loop,
                      const struct cc_handover *handover)
{
    begin(control, loop, handover->control >= 0 ? handover->control : listen_here());
    for (size_t i = 0; i < handover->n_clients && i < CC_CONTROL_CLIENTS; i++) {
        struct cc_control_client *client = &control->clients[i];
        client->order = ++control->arrivals;
        client->reload = 1;
        ev_io_set(&client->io, handover->clients[i], EV_READ);
        ev_io_start(loop, &client->io);
    }
}

void cc_control_update(struct cc_control *control, const struct cc_master *master)
{
    for (int i = 0; i < CC_CONTROL_CLIENTS; i++) {
        struct cc_control_client *client = &control->clients[i];
        if (client->io.fd < 0 || (client->reload == 0 && client->upgrade == 0))
            continue;
        if (client->upgrade != 0 && client->upgrade <= master->upgrades_ended)
            answer(client, 1, master->upgrade_result);
        else if (client->reload != 0 && client->reload <= master->reloads_ended)
            answer(client, master->reload_failed ? 1 : 0, master->reload_result);
        else if (master->stopping)
            answer(client, 1, "the server is stopping");
    }
}

void cc_control_end(struct cc_control *control)
{
    for (int i = 0; i < CC_CONTROL_CLIENTS; i++)
        drop(&control->clients[i]);
    if (control->io.fd < 0)
        return;
    ev_io_stop(control->loop, &control->io);
    close(control->io.fd);
    ev_io_set(&control->io, -1, EV_READ);
}
