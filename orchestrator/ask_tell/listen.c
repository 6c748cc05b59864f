/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ask_tell/listen.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "orchestrator/run/control_address.h"
#include "orchestrator/run/local_socket.h"

/* Whether somebody listens there. */
static bool is_served(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_there = fd >= 0 && connect(fd, (const struct sockaddr *)address,
                                       sizeof(*address)) == 0;

    if (fd >= 0)
        close(fd);
    return is_there;
}

static int make_room(const struct sockaddr_un *address, struct err *err)
{
    const char *path = address->sun_path;
    struct stat file;

    if (lstat(path, &file) != 0)
        return 0;
    if (!S_ISSOCK(file.st_mode))
        return err_set(err, ERR_USAGE, "'%s' exists and is not a socket", path);
    if (is_served(address))
        return err_set(err, ERR_BUSY, "another process listens on '%s'", path);
    return unlink(path) == 0 ? 0
                             : err_set_errno(err, ERR_FAILED, errno,
                                             "cannot remove '%s'", path);
}

int listen_at(const char *path, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path)) {
        err_set(err, ERR_USAGE,
                "out of range: a socket's path has at most %zu bytes, and '%s' "
                "has %zu",
                sizeof(address.sun_path) - 1, path, strlen(path));
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (make_room(&address, err) != 0)
        return -1;
    return local_socket_listen(&address, path, err);
}

int listen_for_commands(const char *run_directory, struct err *err)
{
    struct sockaddr_un address;
    int directory = control_address(run_directory, &address, err);
    int fd;

    if (directory < 0)
        return -1;
    unlinkat(directory, CONTROL_SOCKET_NAME, 0);
    fd = local_socket_listen(&address, CONTROL_SOCKET_NAME, err);
    close(directory);
    return fd;
}
