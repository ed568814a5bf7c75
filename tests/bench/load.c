/* Bounded closed-loop load for one server on loopback or a unix socket.
 *     load -p http|close|uwsgi -a 127.0.0.1:PORT|unix:PATH -c CONNECTIONS -d SECONDS [-u URI] [-s
 * PID] http: keep-alive requests; close: one HTTP connection a request; uwsgi: one packet a
 * connection. -s: the server's root process. The CPU time of its whole tree is read before and
 * after, which gives the cost of a request even where the machine is too noisy for requests a
 * second. Prints one line of JSON. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/tree_cpu.h"

#define MAX_SECONDS     60
#define MAX_CONNECTIONS 20000
#define MAX_LATENCIES   (1u << 22)
#define SECOND_NS       1000000000

enum mode { HTTP, CLOSE, UWSGI };

struct conn {
    int fd;
    size_t sent;
    int status;   /* 0: the head is not whole yet */
    int64_t left; /* bytes of body to come; -1: up to the end of the connection */
    bool chunked;
    int64_t start_ns;
    size_t head_len;
    char head[4096]; /* and, once the head is whole, the body's last 5 bytes */
};

/* One program, one run: its settings, then its counts. */
static enum mode mode = HTTP;
static struct sockaddr_storage peer;
static socklen_t peer_len;
static char request[8192];
static size_t request_len;
static int poller;
static uint64_t good, bad, errors, bytes;
static uint32_t *latencies_us;
static size_t n_latencies;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)SECOND_NS + now.tv_nsec;
}

static void start(struct conn *conn)
{
    struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLET, {.ptr = conn}};

    memset(conn, 0, offsetof(struct conn, head));
    conn->start_ns = now_ns();
    conn->fd = socket(peer.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (peer.ss_family == AF_INET)
        setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(conn->fd, (struct sockaddr *)&peer, peer_len) != 0 && errno != EINPROGRESS) {
        errors++;
        close(conn->fd);
        conn->fd = -1;
        return;
    }
    epoll_ctl(poller, EPOLL_CTL_ADD, conn->fd, &event);
}

static void start_again(struct conn *conn)
{
    close(conn->fd);
    start(conn);
}

static void fail(struct conn *conn)
{
    errors++;
    start_again(conn);
}

static void note_answer(struct conn *conn)
{
    if (conn->status / 100 != 2) {
        bad++;
        return;
    }
    good++;
    if (n_latencies < MAX_LATENCIES)
        latencies_us[n_latencies++] = (uint32_t)((now_ns() - conn->start_ns) / 1000);
}

/* Sends what is left of the request; false: the connection failed and was started again. */
static bool send_request(struct conn *conn)
{
    while (conn->sent < request_len) {
        ssize_t sent = send(conn->fd, request + conn->sent, request_len - conn->sent, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN))
            return true;
        if (sent < 0) {
            fail(conn);
            return false;
        }
        conn->sent += (size_t)sent;
    }
    return true;
}

/* Takes bytes of the head; returns how many of them belonged to it. */
static size_t take_head(struct conn *conn, const char *at, size_t len)
{
    size_t room = sizeof conn->head - 1 - conn->head_len, take = len < room ? len : room;
    size_t before = conn->head_len;

    memcpy(conn->head + conn->head_len, at, take);
    conn->head_len += take;
    conn->head[conn->head_len] = '\0';
    char *end = strstr(conn->head, "\r\n\r\n");
    if (end == NULL) {
        if (conn->head_len == sizeof conn->head - 1)
            conn->status = 599; /* no head that we can read */
        return take;
    }
    end[2] = '\0';
    const char *status = strchr(conn->head, ' ');
    const char *length = strcasestr(conn->head, "\r\nContent-Length:");
    conn->status = status == NULL ? 599 : (int)strtol(status, NULL, 10);
    conn->left = length == NULL ? -1 : strtoll(length + 17, NULL, 10);
    conn->chunked = strcasestr(conn->head, "\r\nTransfer-Encoding: chunked") != NULL;
    conn->head_len = 0;
    memset(conn->head, 0, 5);
    return (size_t)(end + 4 - conn->head) - before;
}

/* Takes bytes of the body; true: it is whole. */
static bool take_body(struct conn *conn, const char *at, size_t len)
{
    if (conn->left >= 0 && !conn->chunked) {
        conn->left -= (int64_t)len;
        return conn->left <= 0;
    }
    if (conn->chunked) {
        size_t take = len < 5 ? len : 5;
        memmove(conn->head, conn->head + take, 5 - take);
        memcpy(conn->head + 5 - take, at + len - take, take);
        return memcmp(conn->head, "0\r\n\r\n", 5) == 0;
    }
    return false;
}

/* The peer closed: right for an answer that ends so. */
static void end_of_stream(struct conn *conn)
{
    if (conn->status == 0 || conn->chunked || conn->left > 0) {
        fail(conn);
        return;
    }
    note_answer(conn);
    start_again(conn);
}

static void answer_done(struct conn *conn)
{
    if (mode == UWSGI) /* the end of the connection counts as the end of the answer */
        return;
    note_answer(conn);
    if (mode == CLOSE) {
        start_again(conn);
        return;
    }
    conn->sent = 0;
    conn->status = 0;
    conn->start_ns = now_ns();
    send_request(conn);
}

static void receive(struct conn *conn)
{
    static char buffer[65536];

    for (int fd = conn->fd; conn->fd == fd;) {
        ssize_t got = recv(conn->fd, buffer, sizeof buffer, 0);
        if (got < 0) {
            if (errno != EAGAIN)
                fail(conn);
            return;
        }
        if (got == 0) {
            end_of_stream(conn);
            return;
        }
        bytes += (uint64_t)got;
        size_t used = conn->status == 0 ? take_head(conn, buffer, (size_t)got) : 0;
        if (conn->status == 0)
            continue;
        if (!take_body(conn, buffer + used, (size_t)got - used))
            continue;
        answer_done(conn);
        if (mode == CLOSE)
            return;
    }
}

static void add_text(char **at, const char *text)
{
    size_t len = strlen(text);
    *(*at)++ = (char)(len & 255);
    *(*at)++ = (char)(len >> 8);
    memcpy(*at, text, len);
    *at += len;
}

static void make_packet(const char *uri)
{
    char path[1024], *at = request + 4;

    snprintf(path, sizeof path, "%s", uri);
    char *query = strchr(path, '?');
    if (query != NULL)
        *query++ = '\0';
    const char *const variables[] = {
        "QUERY_STRING",    query == NULL ? "" : query,
        "REQUEST_METHOD",  "GET",
        "CONTENT_TYPE",    "",
        "CONTENT_LENGTH",  "",
        "REQUEST_URI",     uri,
        "PATH_INFO",       path,
        "DOCUMENT_ROOT",   "/var/www",
        "SERVER_PROTOCOL", "HTTP/1.1",
        "REQUEST_SCHEME",  "http",
        "REMOTE_ADDR",     "127.0.0.1",
        "REMOTE_PORT",     "40000",
        "SERVER_PORT",     "80",
        "SERVER_NAME",     "localhost",
        "HTTP_HOST",       "localhost",
        "HTTP_USER_AGENT", "load",
        "HTTP_ACCEPT",     "*/*",
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        add_text(&at, variables[i]);
    request_len = (size_t)(at - request);
    size_t size = request_len - 4;
    request[0] = request[3] = 0;
    request[1] = (char)(size & 255);
    request[2] = (char)(size >> 8);
}

static void make_request(const char *uri)
{
    if (mode == UWSGI) {
        make_packet(uri);
        return;
    }
    request_len = (size_t)snprintf(request, sizeof request,
                                   "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: load\r\n"
                                   "Accept: */*\r\n%s\r\n",
                                   uri, mode == CLOSE ? "Connection: close\r\n" : "");
}

/* false: not an address that this program loads. */
static bool find_peer(const char *text)
{
    struct sockaddr_un *local = (struct sockaddr_un *)&peer;
    struct sockaddr_in *inet = (struct sockaddr_in *)&peer;
    const char *colon = strrchr(text, ':');
    char host[64];

    if (strncmp(text, "unix:", 5) == 0) {
        local->sun_family = AF_UNIX;
        snprintf(local->sun_path, sizeof local->sun_path, "%s", text + 5);
        peer_len = sizeof *local;
        return true;
    }
    if (colon == NULL || (size_t)(colon - text) >= sizeof host)
        return false;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    inet->sin_family = AF_INET;
    inet->sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10));
    peer_len = sizeof *inet;
    return inet_pton(AF_INET, host, &inet->sin_addr) == 1 &&
           ntohl(inet->sin_addr.s_addr) >> 24 == 127;
}

static void run(struct conn *conns, int count, int64_t end_ns)
{
    struct epoll_event events[256];

    for (int i = 0; i < count; i++)
        start(&conns[i]);
    while (now_ns() < end_ns) {
        int n = epoll_wait(poller, events, 256, 50);
        for (int i = 0; i < n; i++) {
            struct conn *conn = events[i].data.ptr;
            if (conn->fd < 0 || !send_request(conn))
                continue;
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                receive(conn);
        }
        for (int i = 0; i < count; i++)
            if (conns[i].fd < 0)
                start(&conns[i]);
    }
}

static int by_size(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static double latency_ms(double share)
{
    if (n_latencies == 0)
        return 0;
    return latencies_us[(size_t)((double)(n_latencies - 1) * share)] / 1000.0;
}

static void report(double seconds, double cpu)
{
    qsort(latencies_us, n_latencies, sizeof *latencies_us, by_size);
    printf("{\"rps\": %.0f, \"ok\": %lu, \"bad\": %lu, \"errors\": %lu, \"p50_ms\": %.2f, "
           "\"p99_ms\": %.2f, \"max_ms\": %.2f, \"cpu_us_per_req\": %.2f, \"mb_s\": %.1f}\n",
           (double)good / seconds, (unsigned long)good, (unsigned long)bad, (unsigned long)errors,
           latency_ms(0.5), latency_ms(0.99), latency_ms(1),
           good > 0 ? cpu * 1e6 / (double)good : 0, (double)bytes / seconds / 1e6);
}

int main(int argc, char **argv)
{
    const char *address = "", *uri = "/";
    long count = 64, seconds = 3;
    pid_t server = 0;

    for (int option; (option = getopt(argc, argv, "p:a:c:d:u:s:")) > 0;) {
        if (option == 'p')
            mode = strcmp(optarg, "uwsgi") == 0   ? UWSGI
                   : strcmp(optarg, "close") == 0 ? CLOSE
                                                  : HTTP;
        else if (option == 'a')
            address = optarg;
        else if (option == 'c')
            count = strtol(optarg, NULL, 10);
        else if (option == 'd')
            seconds = strtol(optarg, NULL, 10);
        else if (option == 'u')
            uri = optarg;
        else if (option == 's')
            server = (pid_t)strtol(optarg, NULL, 10);
        else
            return 2;
    }
    if (!find_peer(address) || count < 1 || count > MAX_CONNECTIONS || seconds < 1 ||
        seconds > MAX_SECONDS || strlen(uri) > 1000) {
        fprintf(stderr,
                "load: an address on 127.0.0.0/8 or unix:PATH, 1 to %d connections, "
                "1 to %d seconds\n",
                MAX_CONNECTIONS, MAX_SECONDS);
        return 2;
    }
    make_request(uri);
    poller = epoll_create1(0);
    latencies_us = calloc(MAX_LATENCIES, sizeof *latencies_us);
    struct conn *conns = calloc((size_t)count, sizeof *conns);
    if (poller < 0 || latencies_us == NULL || conns == NULL) {
        perror("load");
        return 1;
    }
    double cpu = server > 0 ? cc_tree_cpu(server) : 0;
    int64_t begin = now_ns();
    run(conns, (int)count, begin + seconds * (int64_t)SECOND_NS);
    double took = (double)(now_ns() - begin) / 1e9;
    report(took, server > 0 ? cc_tree_cpu(server) - cpu : 0);
    return 0;
}
