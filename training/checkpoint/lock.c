/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run in a folder of checkpoints at a time.
 *
 * A run holds a lock on an empty file there, which the kernel takes back
 * however the run ends. Where its machine crashes, a server of NFS does so
 * after a while, or, in version 3, once that is back. Who removes the file
 * frees the folder.
 *
 * A run also removes the file at its end, so that a folder holds nothing but
 * checkpoints. Then another run may have opened the file before it was removed,
 * and gets the lock of a file that nobody else can find: it looks whether the
 * path is still that file, and opens it again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "training/checkpoint/checkpoint.h"

struct checkpoint_lock {
    char *path;
    int fd;
};

/* -1 with errno: EAGAIN where another run has it. */
static int open_locked(const char *path)
{
    struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int saved;

    for (;;) {
        int fd = fs_shared_open(path, O_RDWR, 0600);

        if (fd < 0)
            return -1;
        if (fcntl(fd, F_OFD_SETLK, &whole_file) != 0) {
            saved = errno;
            close(fd);
            errno = saved;
            return -1;
        }
        if (fs_is_at(fd, path))
            return fd;
        close(fd);
    }
}

int checkpoint_lock(const char *directory, struct checkpoint_lock **lock,
                    struct buf *notes, struct err *err)
{
    char *path = fs_join(directory, "lock");
    int fd = open_locked(path);
    int status = 0;

    *lock = NULL;
    if (fd >= 0) {
        *lock = mem_zero(sizeof(**lock));
        **lock = (struct checkpoint_lock){mem_copy_string(path), fd};
    } else if (errno == EAGAIN) {
        status = err_set(err, ERR_BUSY,
                         "another training uses '%s': wait until it ends, or "
                         "use another folder (if its machine has crashed, "
                         "remove '%s')",
                         directory, path);
    } else {
        buf_printf(notes,
                   "cannot lock '%s': %s; do not start another training with "
                   "this folder\n",
                   path, strerror(errno));
    }
    free(path);
    return status;
}

void checkpoint_unlock(struct checkpoint_lock *lock)
{
    if (lock == NULL)
        return;
    if (fs_is_at(lock->fd, lock->path))
        unlink(lock->path);
    close(lock->fd);
    free(lock->path);
    free(lock);
}
