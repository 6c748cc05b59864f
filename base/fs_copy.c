/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

/* By hand. */
static int copy_through(int from, int to)
{
    enum { STEP = 1 << 20 };
    char *bytes = mem_alloc(STEP);
    ssize_t length;
    int error;

    while ((length = read(from, bytes, STEP)) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 || fs_write_all(to, bytes, (size_t)length) != 0)
            break;
    }
    error = errno;
    free(bytes);
    errno = error;
    return length == 0 ? 0 : -1;
}

/* Through the kernel, which shares blocks where the file system can. Before
 * Linux 5.3 it does not copy between file systems, and a filter of system calls
 * may refuse it. */
static int copy_bytes(int from, int to)
{
    ssize_t length;

    do
        length = copy_file_range(from, NULL, to, NULL, SSIZE_MAX, 0);
    while (length > 0);
    if (length < 0 && (errno == EXDEV || errno == ENOSYS || errno == EPERM ||
                       errno == EINVAL || errno == EOPNOTSUPP))
        return copy_through(from, to);
    return length == 0 ? 0 : -1;
}

/* A file system that cannot sync it is no error. */
static int sync_it(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL ? 0 : -1;
}

static int sync_folder(const char *path)
{
    char *inside = fs_join(path, "");

    fs_sync_directory_of(inside);
    free(inside);
    return 0;
}

static int copy_file(const FTSENT *entry, const char *target)
{
    int from = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int to = -1, result = -1, error;

    if (from >= 0)
        to = fs_shared_open(target, O_WRONLY | O_TRUNC | O_NOFOLLOW,
                            entry->fts_statp->st_mode & 0777);
    if (to >= 0)
        result = copy_bytes(from, to);
    if (result == 0)
        result = sync_it(to);
    error = errno;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    errno = error;
    return result;
}

static int copy_link(const FTSENT *entry, const char *target)
{
    char text[PATH_MAX];
    ssize_t length = readlink(entry->fts_accpath, text, sizeof(text) - 1);

    if (length < 0)
        return -1;
    text[length] = '\0';
    return symlink(text, target) == 0 || errno == EEXIST ? 0 : -1;
}

static int copy_entry(const FTSENT *entry, const char *target)
{
    switch (entry->fts_info) {
    case FTS_D:
        return fs_shared_mkdir(target) == 0 || errno == EEXIST ? 0 : -1;
    case FTS_F:
        return copy_file(entry, target);
    case FTS_SL:
    case FTS_SLNONE:
        return copy_link(entry, target);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        errno = entry->fts_errno;
        return -1;
    case FTS_DP:
        return sync_folder(target);
    default: /* sockets and their like */
        return 0;
    }
}

int fs_copy_tree(const char *source, const char *target, struct err *err)
{
    char *top = mem_copy_string(source);
    char *const paths[] = {top, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    const FTSENT *entry;
    int result = 0;

    errno = 0;
    while (tree != NULL && result == 0 && (entry = fts_read(tree)) != NULL) {
        char *path = mem_printf("%s%s", target, entry->fts_path + strlen(top));

        if (copy_entry(entry, path) != 0)
            result = err_set_errno(err, ERR_FAILED, errno,
                                   "cannot copy '%s' to '%s'", entry->fts_path,
                                   path);
        free(path);
        errno = 0;
    }
    if (tree == NULL || (result == 0 && errno != 0))
        result = err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", top);
    if (tree != NULL)
        fts_close(tree);
    free(top);
    return result;
}
