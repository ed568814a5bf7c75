/* See lobby.h. */
#include "server/lobby.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/server_state.h"

/* Seconds that all of this worker's threads are busy before it looks who waits. */
#define LOOK_SECONDS 0.1
/* Connections that it looks at then. */
#define LOOK_AT_MOST 64
/* Bytes of a request in which the health path is looked for. */
#define PEEK_BYTES ((size_t)2048)

bool cc_lobby_open(struct cc_lobby *lobby, bool wanted)
{
    int ends[2] = {-1, -1};
    bool fine =
        !wanted || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0;

    lobby->put = ends[0];
    lobby->take = ends[1];
    return fine;
}

void cc_lobby_close(struct cc_lobby *lobby)
{
    if (lobby->put >= 0) {
        close(lobby->put);
        close(lobby->take);
    }
    lobby->put = lobby->take = -1;
}

/* A descriptor as SCM_RIGHTS carries it, beside the number of its listening socket. */
union carried {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

static bool put(const struct cc_lobby *lobby, int fd, int listener)
{
    union carried carried = {.bytes = {0}};
    struct iovec number = {&listener, sizeof listener};
    struct msghdr message = {.msg_iov = &number,
                             .msg_iovlen = 1,
                             .msg_control = carried.bytes,
                             .msg_controllen = sizeof carried.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(lobby->put, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* -1: nobody waits. */
static int take(const struct cc_lobby *lobby, int *listener)
{
    union carried carried = {.bytes = {0}};
    struct iovec number = {listener, sizeof *listener};
    struct msghdr message = {.msg_iov = &number,
                             .msg_iovlen = 1,
                             .msg_control = carried.bytes,
                             .msg_controllen = sizeof carried.bytes};
    int fd;

    if (recvmsg(lobby->take, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header == NULL || header->cmsg_type != SCM_RIGHTS)
        return -1; /* no descriptor was left for it */
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

bool cc_lobby_take(struct cc_lobby_keeper *keeper)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof peer;
    struct cc_server *server = keeper->server;
    int listener = 0;

    if (keeper->lobby == NULL || keeper->lobby->take < 0)
        return false;
    int fd = take(keeper->lobby, &listener);
    if (fd < 0)
        return false;
    getpeername(fd, (struct sockaddr *)&peer, &len);
    cc_accept_begin(&server->acceptors[listener], fd, &peer);
    return true;
}

static void on_taking(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct cc_lobby_keeper *keeper = watcher->data;

    (void)loop;
    (void)events;
    cc_lobby_take(keeper);
    cc_accept_update(keeper->server);
}

/* Whoever has said nothing yet is not sent on: it is met here when it does. */
static bool is_for_others(int fd, const char *health_path)
{
    char bytes[PEEK_BYTES];
    ssize_t got = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);

    return got > 0 && memmem(bytes, (size_t)got, health_path, strlen(health_path)) == NULL;
}

/* false: nobody waits, or the lobby is full. */
static bool look_at_one(struct cc_lobby_keeper *keeper, int number)
{
    struct cc_server *server = keeper->server;
    struct cc_acceptor *acceptor = &server->acceptors[number];
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof peer;
    int fd = accept4(acceptor->io.fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return false;
    bool others = is_for_others(fd, server->setup->settings->health_path);
    if (others && put(keeper->lobby, fd, number)) {
        close(fd);
        return true;
    }
    cc_accept_begin(acceptor, fd, &peer);
    return !others;
}

static void on_looking(struct ev_loop *loop, ev_timer *watcher, int events)
{
    struct cc_lobby_keeper *keeper = watcher->data;
    struct cc_server *server = keeper->server;
    int left = LOOK_AT_MOST;

    (void)events;
    if (!cc_accept_is_busy(server)) {
        ev_timer_stop(loop, watcher);
        return;
    }
    for (size_t i = 0; i < server->setup->listeners->count; i++)
        while (left > 0 && cc_accept_is_busy(server) && look_at_one(keeper, (int)i))
            left--;
}

void cc_lobby_begin(struct cc_lobby_keeper *keeper, struct cc_server *server)
{
    const struct cc_lobby *lobby = server->setup->lobby;

    keeper->server = server;
    keeper->lobby = lobby != NULL && lobby->take >= 0 ? lobby : NULL;
    keeper->empty = keeper->lobby == NULL;
    ev_init(&keeper->looking, on_looking);
    keeper->looking.repeat = LOOK_SECONDS;
    ev_init(&keeper->taking, on_taking);
    if (keeper->lobby != NULL)
        ev_io_set(&keeper->taking, lobby->take, EV_READ);
    keeper->looking.data = keeper->taking.data = keeper;
}

void cc_lobby_end(struct cc_lobby_keeper *keeper)
{
    ev_io_stop(keeper->server->loop, &keeper->taking);
    ev_timer_stop(keeper->server->loop, &keeper->looking);
}

void cc_lobby_accepting(struct cc_lobby_keeper *keeper, bool on)
{
    if (keeper->lobby == NULL)
        return;
    if (on)
        ev_io_start(keeper->server->loop, &keeper->taking);
    else
        ev_io_stop(keeper->server->loop, &keeper->taking);
}

void cc_lobby_busy(struct cc_lobby_keeper *keeper)
{
    if (keeper->lobby != NULL && !ev_is_active(&keeper->looking))
        ev_timer_again(keeper->server->loop, &keeper->looking);
}
