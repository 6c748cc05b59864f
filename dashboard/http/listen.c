/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_FLAGS = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t fill(union address *to, const char *address, int port)
{
    *to = (union address){0};
    if (inet_pton(AF_INET, address, &to->v4.sin_addr) == 1) {
        to->v4.sin_family = AF_INET;
        to->v4.sin_port = htons((uint16_t)port);
        return sizeof(to->v4);
    }
    if (inet_pton(AF_INET6, address, &to->v6.sin6_addr) == 1) {
        to->v6.sin6_family = AF_INET6;
        to->v6.sin6_port = htons((uint16_t)port);
        return sizeof(to->v6);
    }
    return 0;
}

static int fail(int fd, const char *where, struct err *err)
{
    int saved = errno;

    if (fd >= 0)
        close(fd);
    return err_set_errno(err, saved == EADDRINUSE ? ERR_BUSY : ERR_FAILED,
                         saved, "cannot listen on %s", where);
}

int listen_port(const char *address, int *port, struct err *err)
{
    union address to;
    socklen_t length = fill(&to, address, *port);
    const int on = 1;
    char where[80];
    int fd;

    if (length == 0)
        return err_set(err, ERR_USAGE,
                       "expected an IP address to listen on, got '%s'",
                       address);
    snprintf(where, sizeof(where), "port %d of %s", *port, address);
    fd = socket(to.any.sa_family, SOCKET_FLAGS, 0);
    if (fd < 0)
        return fail(fd, where, err);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, &to.any, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, &to.any, &length) != 0)
        return fail(fd, where, err);
    *port =
        ntohs(to.any.sa_family == AF_INET6 ? to.v6.sin6_port : to.v4.sin_port);
    return fd;
}
