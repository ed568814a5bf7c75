/* See address.h. */
#include "base/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "base/span.h"

static bool parse_unix(const char *text, struct cc_address *address, struct cc_err *err)
{
    struct sockaddr_un *un = (struct sockaddr_un *)&address->sock;
    bool abstract = text[0] == '@';
    size_t len = strlen(text);

    if (len >= sizeof un->sun_path)
        return cc_fail(err,
                       "the path is %zu bytes long, a unix socket's may have at most %zu: "
                       "use a shorter one (for example below /run)",
                       len, sizeof un->sun_path - 1);
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, text, len);
    if (abstract)
        un->sun_path[0] = '\0';
    else
        memcpy(address->path, text, len + 1);
    address->kind = abstract ? CC_ADDRESS_ABSTRACT : CC_ADDRESS_UNIX;
    address->sock_len =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (abstract ? 0 : 1));
    return true;
}

static bool parse_fd(const char *text, struct cc_address *address, struct cc_err *err)
{
    const char *what = text + strlen("fd://");
    uint64_t number;

    address->kind = CC_ADDRESS_FD;
    if (cc_span_to_number(cc_span_of(what), 1 << 20, &number)) {
        address->fd = (int)number;
        return true;
    }
    if (what[0] == '\0' || what[strcspn(what, ":/ ")] != '\0' ||
        (what[0] >= '0' && what[0] <= '9') || what[0] == '-' ||
        strlen(what) >= sizeof address->path)
        return cc_fail(err,
                       "\"%s\" is no descriptor: expected fd:// and a number, as in fd://3, or "
                       "the name that a .socket unit gives it",
                       text);
    memcpy(address->path, what, strlen(what) + 1);
    return true;
}

/* Splits "host:port" or "[v6]:port"; *host is "" for all interfaces. The caller frees *host. */
static bool split_inet(const char *text, char **host, const char **port, struct cc_err *err)
{
    const char *colon = strrchr(text, ':');

    if (text[0] == '[') {
        const char *end = strchr(text, ']');
        if (end == NULL || end[1] != ':')
            return cc_fail(err, "\"%s\" lacks the \"]:port\" that ends an IPv6 address", text);
        *host = cc_strndup(text + 1, (size_t)(end - text - 1));
        colon = end + 1;
    } else {
        size_t len = (size_t)(colon - text);
        bool all = len == 0 || (len == 1 && text[0] == '*');
        *host = all ? cc_strdup("") : cc_strndup(text, len);
    }
    *port = colon + 1;
    return true;
}

static bool resolve(const char *host, uint16_t port, struct cc_address *address, struct cc_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;

    int failed = getaddrinfo(host, NULL, &hints, &found);
    if (failed != 0)
        return cc_fail(err, "cannot find the host \"%s\": %s", host, gai_strerror(failed));
    memcpy(&address->sock, found->ai_addr, found->ai_addrlen);
    address->sock_len = found->ai_addrlen;
    freeaddrinfo(found);
    if (address->sock.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address->sock)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&address->sock)->sin_port = htons(port);
    return true;
}

static bool parse_inet(const char *text, struct cc_address *address, struct cc_err *err)
{
    char *host = NULL;
    const char *port_text = "";
    uint64_t port;
    bool ok = false;

    if (!split_inet(text, &host, &port_text, err))
        return false;
    if (!cc_span_to_number(cc_span_of(port_text), 65535, &port)) {
        cc_fail(err, "\"%s\" has no port between 0 and 65535 after its last colon", text);
    } else if (host[0] == '\0') {
        struct sockaddr_in *in = (struct sockaddr_in *)&address->sock;
        in->sin_family = AF_INET;
        in->sin_addr.s_addr = htonl(INADDR_ANY);
        in->sin_port = htons((uint16_t)port);
        address->sock_len = sizeof *in;
        ok = true;
    } else {
        ok = resolve(host, (uint16_t)port, address, err);
    }
    address->kind = CC_ADDRESS_INET;
    free(host);
    return ok;
}

bool cc_address_parse(const char *text, struct cc_address *address, struct cc_err *err)
{
    uint64_t number;

    memset(address, 0, sizeof *address);
    address->fd = -1;
    if (text[0] == '\0')
        return cc_fail(err, "the address is empty: expected host:port, :port, or a path");
    if (strncmp(text, "fd://", strlen("fd://")) == 0)
        return parse_fd(text, address, err);
    if (text[0] == '@' || text[0] == '/' || text[0] == '.')
        return parse_unix(text, address, err);
    if (strchr(text, ':') != NULL)
        return parse_inet(text, address, err);
    if (cc_span_to_number(cc_span_of(text), UINT64_MAX / 10, &number))
        return cc_fail(err,
                       "\"%s\" is a port without a colon: write \":%s\" for all interfaces, or "
                       "\"127.0.0.1:%s\" for this machine alone",
                       text, text, text);
    return parse_unix(text, address, err);
}

void cc_address_host_text(const struct sockaddr_storage *sock, char *text, size_t size)
{
    text[0] = '\0';
    if (sock->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)sock)->sin_addr, text, (socklen_t)size);
    else if (sock->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)sock)->sin6_addr, text, (socklen_t)size);
}

int cc_address_port(const struct sockaddr_storage *sock)
{
    if (sock->ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)sock)->sin_port);
    if (sock->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)sock)->sin6_port);
    return 0;
}
