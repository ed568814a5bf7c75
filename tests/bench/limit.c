/* The floor: what one request costs through libev with no parsing and no application. No server on
 * libev that does real work can beat it by more than noise.
 *     limit PORT              keep-alive HTTP: one recv and one send a request
 *     limit PORT close        one connection a request: accept4, eager recv, send, close
 *     limit unix:PATH close   the same on a unix socket (uwsgi packets)
 * Listens on 127.0.0.1 only. */
#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                             "Content-Length: 12\r\n\r\nHello World!";
static bool one_a_connection;

enum served { ANSWERED, NOTHING_YET, GONE };

static enum served serve(int fd)
{
    static char bytes[65536];
    ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got > 0)
        return send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 ? ANSWERED
                                                                                    : GONE;
    return got < 0 && errno == EAGAIN ? NOTHING_YET : GONE;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    enum served served = serve(watcher->fd);
    if (served == GONE || (served == ANSWERED && one_a_connection)) {
        ev_io_stop(loop, watcher);
        close(watcher->fd);
        free(watcher);
    }
}

static void on_connection(struct ev_loop *loop, ev_io *listener, int events)
{
    (void)events;
    for (int i = 0; i < 16; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (one_a_connection && serve(fd) != NOTHING_YET) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        ev_io *watcher = calloc(1, sizeof *watcher);
        if (watcher == NULL)
            abort();
        ev_io_init(watcher, on_readable, fd, EV_READ);
        ev_io_start(loop, watcher);
    }
}

static int listen_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        return -1;
    return listen(fd, 1024) == 0 ? fd : -1;
}

static int listen_inet(long port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        return -1;
    return listen(fd, 1024) == 0 ? fd : -1;
}

int main(int argc, char **argv)
{
    ev_io listener;

    if (argc < 2) {
        fprintf(stderr, "usage: limit PORT|unix:PATH [close]\n");
        return 2;
    }
    one_a_connection = argc > 2;
    int fd = strncmp(argv[1], "unix:", 5) == 0 ? listen_unix(argv[1] + 5)
                                               : listen_inet(strtol(argv[1], NULL, 10));
    if (fd < 0) {
        perror(argv[1]);
        return 1;
    }
    struct ev_loop *loop = ev_default_loop(0);
    ev_io_init(&listener, on_connection, fd, EV_READ);
    ev_io_start(loop, &listener);
    ev_run(loop, 0);
    return 0;
}
