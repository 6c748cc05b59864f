/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is made in a folder that a group shares. The kernel passes on the group
 * and the setgid bit, and this file the rights, which the umask would take
 * away. The folder alone decides, so an engine, a shim on another machine and
 * the commands of all users agree.
 *
 * A mode is changed only right after the file was made: by its owner, and while
 * it is empty. A user who changes it later keeps that mode.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

enum { SHARED = S_ISGID | S_IRWXG, ALL = 07777 };

bool fs_is_shared(mode_t mode)
{
    return (mode & SHARED) == SHARED;
}

/* Whether that is so of the folder that a path is in. */
static bool is_in_shared(int folder, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *above =
        slash != NULL ? mem_copy_bytes(path, (size_t)(slash - path) + 1) : NULL;
    struct stat status;
    int result = fstatat(folder, above != NULL ? above : ".", &status, 0);

    free(above);
    return result == 0 && fs_is_shared(status.st_mode);
}

/* The group gets the rights of the user. */
static mode_t for_group(mode_t mode)
{
    return (mode & S_IRWXU) | (mode & S_IRWXU) >> 3;
}

mode_t fs_shared_mode(const char *path, mode_t mode)
{
    return is_in_shared(AT_FDCWD, path) ? for_group(mode) : mode;
}

int fs_shared_openat(int folder, const char *path, int flags, mode_t mode)
{
    bool is_shared = is_in_shared(folder, path);
    mode_t wanted = is_shared ? for_group(mode) : mode;
    int fd = openat(folder, path, flags | O_CREAT | O_CLOEXEC, wanted);
    struct stat status;

    if (fd >= 0 && is_shared && fstat(fd, &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_size == 0 &&
        status.st_uid == geteuid() && (status.st_mode & ALL) != wanted)
        fchmod(fd, wanted);
    return fd;
}

int fs_shared_open(const char *path, int flags, mode_t mode)
{
    return fs_shared_openat(AT_FDCWD, path, flags, mode);
}

int fs_shared_mkdirat(int folder, const char *path)
{
    if (mkdirat(folder, path, S_IRWXU) != 0)
        return -1;
    if (is_in_shared(folder, path))
        fchmodat(folder, path, S_IRWXU | SHARED, 0);
    return 0;
}

static int check_entry(const FTSENT *entry, struct err *err)
{
    int error = 0;

    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
        error = entry->fts_errno;
    else if (entry->fts_info == FTS_D &&
             access(entry->fts_accpath, R_OK | W_OK | X_OK) != 0)
        error = errno;
    return error == 0 || error == ENOENT
               ? 0
               : err_set_errno(err, ERR_FAILED, error,
                               "cannot remove what is in '%s'",
                               entry->fts_path);
}

int fs_check_removable(const char *path, struct err *err)
{
    char *copy = mem_copy_string(path);
    char *roots[] = {copy, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    const FTSENT *entry;
    int result = 0;

    if (tree == NULL)
        result =
            err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", path);
    while (tree != NULL && result == 0 && (entry = fts_read(tree)) != NULL)
        result = check_entry(entry, err);
    if (tree != NULL)
        fts_close(tree);
    free(copy);
    return result;
}
