/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/system/close_from.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system/calls.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2) /* since Linux 5.11 */
#endif

/* Where there is no /proc either. */
enum { FDS_MAX = 65536 };

/* Each open descriptor from `first` on but the one of the look itself; all
 * numbers where they cannot be listed. Stops at an error number. */
static int each_from(int first, int (*visit)(void *user, int fd), void *user)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    int result = 0;

    if (folder == NULL) {
        long max = sysconf(_SC_OPEN_MAX);

        for (int fd = first; fd < (max > FDS_MAX ? FDS_MAX : max); fd++) {
            if (fcntl(fd, F_GETFD) >= 0 && (result = visit(user, fd)) != 0)
                return result;
        }
        return 0;
    }
    while (result == 0 && (entry = readdir(folder)) != NULL) {
        int fd = (int)strtol(entry->d_name, NULL, 10);

        if (entry->d_name[0] != '.' && fd >= first && fd != dirfd(folder))
            result = visit(user, fd);
    }
    closedir(folder);
    return result;
}

static int close_it(void *user, int fd)
{
    (void)user;
    close(fd);
    return 0;
}

static int close_it_on_exec(void *user, int fd)
{
    (void)user;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

static int close_it_in_child(void *user, int fd)
{
    int flags = fcntl(fd, F_GETFD), error;

    if (flags < 0 || (flags & FD_CLOEXEC) != 0)
        return 0;
    error = posix_spawn_file_actions_addclose(user, fd);
    /* The limit of open files was lowered below it, so no action takes it. */
    if (error == EBADF)
        error = fcntl(fd, F_SETFD, flags | FD_CLOEXEC) == 0 ? 0 : errno;
    return error;
}

void close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0U, 0) != 0)
        each_from(first, close_it, NULL);
}

void close_from_on_exec(int first)
{
    if (syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
        each_from(first, close_it_on_exec, NULL);
}

int spawn_close_from(posix_spawn_file_actions_t *actions, int first)
{
    return each_from(first, close_it_in_child, actions);
}
