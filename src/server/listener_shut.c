/* See listener_shut.h. Closing a listening socket resets the connections in its queue, which the
 * kernel has told their clients are made; so before it is closed the queue has to be emptied, and
 * for that it must not fill at the same time. */
#include "server/listener_shut.h"

#include <linux/filter.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* TCP has no call for it (shutdown(2) resets the queue). A filter that drops the packets which ask
 * for a connection does it: their clients ask again, and by then they are refused, or a new server
 * takes them. */
static bool drop_new(int fd)
{
    enum { FLAGS_AT = 13, PASS = 0x7fffffff };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_AT),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TH_SYN),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, PASS),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

bool cc_listener_shut(const struct cc_listener *listener)
{
    switch (listener->address.kind) {
    case CC_ADDRESS_INET:
        return drop_new(listener->fd);
    case CC_ADDRESS_UNIX:
    case CC_ADDRESS_ABSTRACT:
        /* New ones are refused from here on. */
        return shutdown(listener->fd, SHUT_RD) == 0;
    case CC_ADDRESS_FD:
        break;
    }
    return false;
}
