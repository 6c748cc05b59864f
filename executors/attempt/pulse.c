/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "base/fs.h"

/*
 * A network file system answers from what it remembers of a file or a folder
 * for up to a minute, but asks anew when one is opened. So what another machine
 * may have changed is opened here, and not just looked at.
 */

static int open_folder(const char *directory)
{
    return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int make(const char *directory, const char *name, struct err *err)
{
    int folder = open_folder(directory), fd = -1;

    if (folder >= 0) {
        fd = fs_shared_openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK,
                              0600);
        if (fd < 0)
            err_set_errno(err, ERR_FAILED, errno, "cannot create '%s/%s'",
                          directory, name);
        close(folder);
    } else {
        err_set_errno(err, ERR_FAILED, errno, "cannot open folder '%s'",
                      directory);
    }
    return fd;
}

int pulse_beat(const char *directory, struct err *err)
{
    int fd = make(directory, "pulse", err), result = -1;

    if (fd < 0)
        return -1;
    result = futimens(fd, NULL);
    if (result != 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot touch '%s/pulse'",
                      directory);
    close(fd);
    return result;
}

static bool says_none(int error)
{
    return error == ENOENT || error == ENOTDIR;
}

int64_t pulse_read(const char *directory)
{
    int folder = open_folder(directory), fd;
    int64_t stamp = -1;
    struct stat status;

    if (folder < 0)
        return says_none(errno) ? 0 : -1;
    fd =
        openat(folder, "pulse", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && says_none(errno))
        stamp = 0;
    else if (fd >= 0 && fstat(fd, &status) == 0)
        stamp = count_add(count_times(status.st_mtim.tv_sec, 1000000000),
                          status.st_mtim.tv_nsec);
    if (fd >= 0)
        close(fd);
    close(folder);
    return stamp;
}

int pulse_mark(const char *directory, const char *mark, struct err *err)
{
    int fd = make(directory, mark, err);

    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

bool pulse_is_marked(const char *directory, const char *mark)
{
    int folder = open_folder(directory);
    bool is_marked;

    if (folder < 0)
        return false;
    is_marked = faccessat(folder, mark, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    close(folder);
    return is_marked;
}

int64_t pulse_silence_ms(struct pulse_watch *watch, const char *directory,
                         int64_t now_ms)
{
    int64_t stamp = pulse_read(directory);

    if (watch->changed_ms == 0 || stamp < 0 || stamp != watch->stamp)
        watch->changed_ms = now_ms;
    if (stamp >= 0)
        watch->stamp = stamp;
    return now_ms - watch->changed_ms;
}
