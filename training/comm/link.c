/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static int open_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;

    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return fd;
}

static struct addrinfo *resolve(const char *address, int port, int flags,
                                struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV | flags};
    struct addrinfo *found = NULL;
    char service[16];
    int status;

    snprintf(service, sizeof(service), "%d", port);
    status = getaddrinfo(address, service, &hints, &found);
    if (status == 0)
        return found;
    err_set(err, status == EAI_AGAIN ? ERR_BUSY : ERR_FAILED,
            "cannot resolve the host '%s': %s", address, gai_strerror(status));
    return NULL;
}

static int bind_and_listen(const struct sockaddr *address, socklen_t length)
{
    int fd = open_socket(address->sa_family), yes = 1, no = 0, errno_value;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (address->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    if (bind(fd, address, length) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    errno_value = errno;
    close(fd);
    errno = errno_value;
    return -1;
}

int link_listen(const char *address, int port, struct err *err)
{
    const union address any6 = {
        .v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)}};
    const union address any4 = {
        .v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}};
    int fd = -1;

    if (link_is_loopback(address)) {
        struct addrinfo *found = resolve(address, port, 0, err);

        if (found == NULL)
            return -1;
        fd = bind_and_listen(found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
    } else {
        fd = bind_and_listen(&any6.any, sizeof(any6.v6));
        if (fd < 0 && errno != EADDRINUSE)
            fd = bind_and_listen(&any4.any, sizeof(any4.v4));
    }
    if (fd < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot listen on port %d", port);
    return fd;
}

int link_port(int fd)
{
    union address own;
    socklen_t length = sizeof(own);

    memset(&own, 0, sizeof(own));
    getsockname(fd, &own.any, &length);
    return ntohs(own.any.sa_family == AF_INET6 ? own.v6.sin6_port
                                               : own.v4.sin_port);
}

void link_own_address(int fd, char address[LINK_ADDRESS_MAX])
{
    union address own;
    socklen_t length = sizeof(own);

    memset(&own, 0, sizeof(own));
    if (getsockname(fd, &own.any, &length) != 0 ||
        getnameinfo(&own.any, length, address, LINK_ADDRESS_MAX, NULL, 0,
                    NI_NUMERICHOST) != 0)
        address[0] = '\0';
    /* An IPv4 address as an IPv6 socket shows it. */
    if (strncmp(address, "::ffff:", 7) == 0 && strchr(address, '.') != NULL)
        memmove(address, address + 7, strlen(address + 7) + 1);
}

bool link_is_loopback(const char *address)
{
    return strcmp(address, "127.0.0.1") == 0 || strcmp(address, "::1") == 0 ||
           strcmp(address, "localhost") == 0;
}

/* Until the socket is ready or the deadline is there. */
static bool await(int fd, short events, int64_t deadline_ms)
{
    struct pollfd polled = {.fd = fd, .events = events};
    int64_t left_ms = deadline_ms - clock_monotonic_ms();

    if (left_ms <= 0)
        return false;
    return poll(&polled, 1, left_ms < 1000 ? (int)left_ms : 1000) >= 0 ||
           errno == EINTR;
}

/* A port of those that are given out as well can end up connected to itself
 * where nobody listens there yet. */
static bool is_own_end(int fd)
{
    union address own, peer;
    socklen_t own_length = sizeof(own), peer_length = sizeof(peer);

    memset(&own, 0, sizeof(own));
    memset(&peer, 0, sizeof(peer));
    return getsockname(fd, &own.any, &own_length) == 0 &&
           getpeername(fd, &peer.any, &peer_length) == 0 &&
           own_length == peer_length && memcmp(&own, &peer, own_length) == 0;
}

static int connect_to(const struct addrinfo *to, int64_t deadline_ms)
{
    int fd = open_socket(to->ai_family), errno_value = 0;
    socklen_t length = sizeof(errno_value);
    struct pollfd polled = {.fd = fd, .events = POLLOUT};

    if (fd < 0)
        return -1;
    errno_value = connect(fd, to->ai_addr, to->ai_addrlen) == 0 ? 0 : errno;
    while (errno_value == EINPROGRESS && await(fd, POLLOUT, deadline_ms)) {
        if (poll(&polled, 1, 0) == 1)
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno_value, &length);
    }
    if (errno_value == 0 && is_own_end(fd))
        errno_value = ECONNREFUSED;
    if (errno_value == 0)
        return fd;
    close(fd);
    errno = errno_value == EINPROGRESS ? ETIMEDOUT : errno_value;
    return -1;
}

int link_connect(const char *address, int port, int64_t deadline_ms,
                 struct err *err)
{
    struct addrinfo *found = resolve(address, port, 0, err);
    int fd = -1;

    if (found == NULL)
        return -1;
    for (const struct addrinfo *it = found; it != NULL && fd < 0;
         it = it->ai_next)
        fd = connect_to(it, deadline_ms);
    freeaddrinfo(found);
    if (fd < 0)
        err_set_errno(err, ERR_BUSY, errno, "cannot connect to %s port %d",
                      address, port);
    return fd;
}

int link_begin(const char *address, int port)
{
    struct addrinfo *found = resolve(address, port, AI_NUMERICHOST, NULL);
    int fd = found != NULL ? open_socket(found->ai_family) : -1;

    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0 &&
        errno != EINPROGRESS) {
        close(fd);
        fd = -1;
    }
    if (found != NULL)
        freeaddrinfo(found);
    return fd;
}

int link_accept(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int yes = 1;

    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return fd;
}

static bool is_only_not_now(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

ptrdiff_t link_read_some(int fd, void *bytes, size_t length)
{
    ssize_t got = recv(fd, bytes, length, 0);

    if (got > 0)
        return got;
    return got < 0 && is_only_not_now() ? 0 : -1;
}

ptrdiff_t link_write_some(int fd, const void *bytes, size_t length)
{
    ssize_t put = send(fd, bytes, length, MSG_NOSIGNAL);

    if (put >= 0)
        return put;
    return is_only_not_now() ? 0 : -1;
}

/* After a part of a transfer: that it goes on, before the deadline. */
static int go_on(int fd, short events, ptrdiff_t moved, int64_t deadline_ms,
                 struct err *err)
{
    if (moved < 0)
        return err_set(err, ERR_FAILED, "connection closed");
    if (moved == 0 && !await(fd, events, deadline_ms))
        return err_set(err, ERR_BUSY, "timed out");
    return 0;
}

int link_send(int fd, const void *bytes, size_t length, int64_t deadline_ms,
              struct err *err)
{
    for (size_t done = 0; done < length;) {
        ptrdiff_t put =
            link_write_some(fd, (const char *)bytes + done, length - done);

        if (go_on(fd, POLLOUT, put, deadline_ms, err) != 0)
            return -1;
        done += (size_t)put;
    }
    return 0;
}

int link_receive(int fd, void *bytes, size_t length, int64_t deadline_ms,
                 struct err *err)
{
    for (size_t done = 0; done < length;) {
        ptrdiff_t got = link_read_some(fd, (char *)bytes + done, length - done);

        if (go_on(fd, POLLIN, got, deadline_ms, err) != 0)
            return -1;
        done += (size_t)got;
    }
    return 0;
}
