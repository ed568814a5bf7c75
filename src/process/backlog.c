/* See backlog.h. TCP says it in TCP_INFO, where a listening socket's tcpi_unacked is the length of
 * its accept queue. For a unix socket ss(8)'s way is the only one: the socket's diagnosis over
 * netlink, asked for by its inode. */
#include "process/backlog.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct question {
    struct nlmsghdr header;
    struct unix_diag_req request;
};

static int tcp_backlog(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof info;

    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return -1;
    return info.tcpi_unacked > INT32_MAX ? -1 : (int)info.tcpi_unacked;
}

/* The queue's length from the kernel's answer. */
static int read_answer(const struct nlmsghdr *header, size_t len)
{
    if (!NLMSG_OK(header, len) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        header->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
        return -1;
    const struct unix_diag_msg *diag = NLMSG_DATA(header);
    const struct rtattr *attribute = (const struct rtattr *)(diag + 1);
    int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof *diag));

    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        struct unix_diag_rqlen queue;
        if (attribute->rta_type != UNIX_DIAG_RQLEN || RTA_PAYLOAD(attribute) < sizeof queue)
            continue;
        memcpy(&queue, RTA_DATA(attribute), sizeof queue);
        return queue.udiag_rqueue > INT32_MAX ? -1 : (int)queue.udiag_rqueue;
    }
    return -1;
}

static int unix_backlog(int fd)
{
    /* The kernel's buffer, aligned as its messages are. */
    uint32_t answer[1024];
    struct stat stat;

    if (fstat(fd, &stat) != 0)
        return -1;
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (netlink < 0)
        return -1;
    struct question question = {
        .header = {.nlmsg_len = sizeof question,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = AF_UNIX,
                    .udiag_states = UINT32_MAX,
                    .udiag_ino = (uint32_t)stat.st_ino,
                    .udiag_show = UDIAG_SHOW_RQLEN,
                    .udiag_cookie = {UINT32_MAX, UINT32_MAX}},
    };
    ssize_t got = -1;
    /* The answer is there when send() returns. */
    if (send(netlink, &question, sizeof question, 0) == (ssize_t)sizeof question)
        got = recv(netlink, answer, sizeof answer, 0);
    close(netlink);
    return got < (ssize_t)sizeof(struct nlmsghdr)
               ? -1
               : read_answer((const struct nlmsghdr *)answer, (size_t)got);
}

int cc_backlog_of(int fd)
{
    int domain = 0;
    socklen_t len = sizeof domain;

    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) != 0)
        return -1;
    if (domain == AF_UNIX)
        return unix_backlog(fd);
    return domain == AF_INET || domain == AF_INET6 ? tcp_backlog(fd) : -1;
}
