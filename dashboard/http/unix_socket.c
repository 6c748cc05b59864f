/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the program of a socket has ended shows when one connects to it: the
 * socket refuses. But a socket also refuses between bind() and listen(), and
 * when its program runs on another machine that shares the folder. Therefore a
 * lock on a file beside it comes first. It lasts as long as the program, and
 * NFS shares it, too. On a file system without locks, the attempt to connect
 * decides.
 *
 * Only this user can use the folder, so what is found in it stays the same
 * until this program, or another of the same user, changes it.
 */
#include "dashboard/http/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/system/runtime_folder.h"

enum { SOCKET_FLAGS = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK };

struct unix_socket {
    char *path, *lock_path;
    struct sockaddr_un address;
    int fd;   /* -1: none yet, or taken */
    int lock; /* -1: none yet, or the file system has none */
    bool is_bound;
};

static int fail(const struct unix_socket *one, struct err *err)
{
    return err_set_errno(err, errno == EADDRINUSE ? ERR_BUSY : ERR_FAILED,
                         errno, "cannot listen on '%s'", one->path);
}

/* ---- the place ---- */

static int set_address(struct unix_socket *one, struct err *err)
{
    const size_t room = sizeof(one->address.sun_path) - 1;

    if (strlen(one->path) > room)
        return err_set(err, ERR_USAGE,
                       "the path of a socket can have at most %zu bytes, and "
                       "'%s' has %zu: choose a shorter one",
                       room, one->path, strlen(one->path));
    one->address.sun_family = AF_UNIX;
    memcpy(one->address.sun_path, one->path, strlen(one->path));
    return 0;
}

static int make_folder(const struct unix_socket *one, struct err *err)
{
    size_t length = (size_t)(strrchr(one->path, '/') - one->path);
    char *folder = mem_copy_bytes(one->path, length > 0 ? length : 1);
    int status = private_folder(folder, err);

    if (status < 0)
        err_prefix(err, "cannot listen on '%s'", one->path);
    free(folder);
    return status;
}

/* ---- the lock ---- */

/* 0 where the file system has no locks. */
static int do_without_lock(struct unix_socket *one, struct err *err)
{
    bool is_taken = errno == EWOULDBLOCK;

    close(one->lock);
    one->lock = -1;
    if (is_taken)
        return err_set(err, ERR_BUSY,
                       "another dashboard listens on '%s', on this machine or "
                       "on one that shares the folder",
                       one->path);
    unlink(one->lock_path);
    return 0;
}

static int take_lock(struct unix_socket *one, struct err *err)
{
    do {
        if (one->lock >= 0)
            close(one->lock);
        one->lock = open(one->lock_path,
                         O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (one->lock < 0)
            return err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'",
                                 one->lock_path);
        if (flock(one->lock, LOCK_EX | LOCK_NB) != 0)
            return do_without_lock(one, err);
    } while (!fs_is_at(one->lock, one->lock_path));
    return 0;
}

/* ---- the socket ---- */

static int connect_to(const struct unix_socket *one, int fd)
{
    return connect(fd, (const struct sockaddr *)&one->address,
                   sizeof(one->address));
}

/* Removes the socket that a program left when it ended. */
static int remove_stale(const struct unix_socket *one, struct err *err)
{
    struct stat file;
    bool is_stale;
    int fd;

    if (lstat(one->path, &file) != 0)
        return errno == ENOENT ? 0 : fail(one, err);
    if (!S_ISSOCK(file.st_mode))
        return err_set(err, ERR_USAGE, "'%s' exists and is not a socket",
                       one->path);
    fd = socket(AF_UNIX, SOCKET_FLAGS, 0);
    if (fd < 0)
        return fail(one, err);
    /* A program that is too busy to accept gives another error. */
    is_stale = connect_to(one, fd) != 0 && errno == ECONNREFUSED;
    close(fd);
    if (!is_stale)
        return err_set(err, ERR_BUSY, "another process listens on '%s'",
                       one->path);
    return unlink(one->path) == 0 ? 0 : fail(one, err);
}

static int listen_at(struct unix_socket *one, struct err *err)
{
    one->fd = socket(AF_UNIX, SOCKET_FLAGS, 0);
    /* The file that bind makes has the mode of the socket. */
    if (one->fd < 0 || fchmod(one->fd, 0600) != 0 ||
        bind(one->fd, (const struct sockaddr *)&one->address,
             sizeof(one->address)) != 0)
        return fail(one, err);
    one->is_bound = true;
    return listen(one->fd, SOMAXCONN) == 0 ? 0 : fail(one, err);
}

struct unix_socket *unix_socket_open(const char *path, struct err *err)
{
    struct unix_socket *one = mem_zero(sizeof(*one));

    one->path = fs_absolute(path);
    one->lock_path = mem_printf("%s.lock", one->path);
    one->fd = one->lock = -1;
    if (set_address(one, err) == 0 && make_folder(one, err) == 0 &&
        take_lock(one, err) == 0 && remove_stale(one, err) == 0 &&
        listen_at(one, err) == 0)
        return one;
    unix_socket_close(one);
    return NULL;
}

int unix_socket_take(struct unix_socket *socket)
{
    int fd = socket->fd;

    socket->fd = -1;
    return fd;
}

void unix_socket_close(struct unix_socket *socket)
{
    if (socket == NULL)
        return;
    if (socket->is_bound)
        unlink(socket->path);
    if (socket->fd >= 0)
        close(socket->fd);
    if (socket->lock >= 0) {
        unlink(socket->lock_path);
        close(socket->lock);
    }
    free(socket->path);
    free(socket->lock_path);
    free(socket);
}
