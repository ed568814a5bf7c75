/* See channel.h. */
#include "process/channel.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

bool cc_channel_open(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0;
}

bool cc_channel_send(int fd, struct cc_message message)
{
    ssize_t sent;

    do
        sent = send(fd, &message, sizeof message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof message;
}

/* Nothing was read: the end, or a message of no bytes. */
static bool is_closed(int fd)
{
    struct pollfd state = {.fd = fd, .events = POLLIN};

    return poll(&state, 1, 0) < 0 || (state.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

enum cc_received cc_channel_receive(int fd, struct cc_message *message)
{
    ssize_t got;

    do
        got = recv(fd, message, sizeof *message, MSG_TRUNC); /* the whole length */
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof *message)
        return CC_RECEIVED;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return CC_RECEIVED_NONE;
    if (got > 0 || (got == 0 && !is_closed(fd)))
        return CC_RECEIVED_NONSENSE;
    return CC_RECEIVED_GONE;
}
