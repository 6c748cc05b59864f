/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/local_socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 128 };

int local_socket_listen(const struct sockaddr_un *address, const char *name,
                        struct err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    /* the file gets the socket's mode: nobody else may connect meanwhile */
    if (fd >= 0 && fchmod(fd, 0600) == 0 &&
        bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    err_set_errno(err, ERR_FAILED, errno, "cannot listen on '%s'", name);
    if (fd >= 0)
        close(fd);
    return -1;
}

bool local_socket_is_own(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}
