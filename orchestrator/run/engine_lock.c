/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/engine_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static int64_t read_pid(int fd)
{
    char text[32];
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

    if (length <= 0)
        return 0;
    text[length] = '\0';
    return strtoll(text, NULL, 10);
}

/* Open file description locks: not lost when some other descriptor of the
 * file is closed, and not inherited as held by a child that execs. */
static int try_lock(int fd)
{
    struct flock lock = whole_file(F_WRLCK);

    return fcntl(fd, F_OFD_SETLK, &lock);
}

int engine_lock_take(const char *run_directory, struct err *err)
{
    char *path = fs_join(run_directory, "engine.lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    } else if (try_lock(fd) != 0) {
        err_set(err, ERR_BUSY, "an engine (pid %" PRId64 ") works on this run",
                read_pid(fd));
        close(fd);
        fd = -1;
    } else {
        char text[32];
        int length =
            snprintf(text, sizeof(text), "%" PRId64 "\n", (int64_t)getpid());

        if (ftruncate(fd, 0) != 0 || write(fd, text, (size_t)length) < 0) {
            err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
            close(fd);
            fd = -1;
        }
    }
    free(path);
    return fd;
}

int engine_lock_probe(const char *run_directory, int64_t *pid, struct err *err)
{
    char *path = fs_join(run_directory, "engine.lock");
    struct flock lock = whole_file(F_WRLCK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int result = 0;

    *pid = 0;
    if (fd < 0) {
        if (errno != ENOENT)
            result =
                err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    } else if (fcntl(fd, F_OFD_GETLK, &lock) != 0) {
        result = err_set_errno(err, ERR_FAILED, errno,
                               "cannot read the lock on '%s'", path);
    } else if (lock.l_type != F_UNLCK) {
        *pid = read_pid(fd);
        result = 1;
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return result;
}
