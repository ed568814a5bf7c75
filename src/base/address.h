/* Addresses to listen on, as an ini spells them. */
#ifndef CC_BASE_ADDRESS_H
#define CC_BASE_ADDRESS_H

#include <sys/socket.h>

#include "base/err.h"

enum cc_address_kind {
    CC_ADDRESS_INET,     /* host:port, :port, *:port, [v6]:port */
    CC_ADDRESS_UNIX,     /* /path or a relative path */
    CC_ADDRESS_ABSTRACT, /* @name */
    CC_ADDRESS_FD,       /* fd://3, fd://name */
};

struct cc_address {
    enum cc_address_kind kind;
    int fd;                       /* CC_ADDRESS_FD; -1: path is its name */
    char path[108];               /* CC_ADDRESS_UNIX: as given */
    struct sockaddr_storage sock; /* not for CC_ADDRESS_FD */
    socklen_t sock_len;
};

/* Parses text (looking a host name up where it is one). false: err says what is wrong and what
 * was expected. */
bool cc_address_parse(const char *text, struct cc_address *address, struct cc_err *err);
/* Writes "127.0.0.1", "::1", or "" for one that is no inet address; without the port. */
void cc_address_host_text(const struct sockaddr_storage *sock, char *text, size_t size);
/* The port of an inet address; 0 for others. */
int cc_address_port(const struct sockaddr_storage *sock);

#endif
