/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

static bool is_loopback(const union address *address)
{
    if (address->any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
    return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
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

    if (length == 0 || !is_loopback(&to))
        return err_set(err, ERR_USAGE,
                       "'%s' is not a loopback address of this machine",
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

/* Takes away the socket that a program left that nobody listens on. */
static int remove_dead(const struct sockaddr_un *to, struct err *err)
{
    struct stat file;
    int fd, status;

    if (lstat(to->sun_path, &file) != 0)
        return 0;
    if (!S_ISSOCK(file.st_mode))
        return err_set(err, ERR_USAGE, "'%s' exists and is not a socket",
                       to->sun_path);
    fd = socket(AF_UNIX, SOCKET_FLAGS, 0);
    if (fd < 0)
        return fail(fd, to->sun_path, err);
    status = connect(fd, (const struct sockaddr *)to, sizeof(*to));
    close(fd);
    if (status == 0)
        return err_set(err, ERR_BUSY, "another process already listens on '%s'",
                       to->sun_path);
    unlink(to->sun_path);
    return 0;
}

int listen_unix(const char *path, struct err *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof(to.sun_path))
        return err_set(
            err, ERR_USAGE,
            "the path of the socket is too long, at most %zu bytes: '%s'",
            sizeof(to.sun_path) - 1, path);
    memcpy(to.sun_path, path, strlen(path));
    if (remove_dead(&to, err) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCKET_FLAGS, 0);
    /* The file that bind makes has the mode of the socket. */
    if (fd < 0 || fchmod(fd, 0600) != 0 ||
        bind(fd, (const struct sockaddr *)&to, sizeof(to)) != 0 ||
        listen(fd, SOMAXCONN) != 0)
        return fail(fd, path, err);
    return fd;
}
