/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is made in a folder that a group shares. The kernel passes on the group
 * and the setgid bit, and this file the rights, which the umask would take
 * away. The folder alone decides, so an engine, a shim on another machine and
 * the commands of all users agree.
 *
 * A mode is changed only right after the file was made: by its owner, and while
 * it is empty. A user who changes it later keeps that mode. Others of the group
 * may rename and link what they like there, so no link is followed: the mode of
 * a file elsewhere stays as it is.
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

static size_t length_without_slashes(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Whether that is so of the folder that a path is in. */
static bool is_in_shared(int folder, const char *path)
{
    size_t length = length_without_slashes(path);
    struct stat status;
    char *above;
    int result;

    while (length > 0 && path[length - 1] != '/')
        length--;
    above = length > 0 ? mem_copy_bytes(path, length) : NULL;
    result = fstatat(folder, above != NULL ? above : ".", &status, 0);
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

static int open_in_shared(int folder, const char *path, int flags, mode_t mode)
{
    int fd = openat(folder, path, flags | O_NOFOLLOW, mode);
    struct stat status;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == 0 && status.st_nlink == 1 &&
        status.st_uid == geteuid() && (status.st_mode & ALL) != mode)
        fchmod(fd, mode);
    return fd;
}

int fs_shared_openat(int folder, const char *path, int flags, mode_t mode)
{
    flags |= O_CREAT | O_CLOEXEC;
    return is_in_shared(folder, path)
               ? open_in_shared(folder, path, flags, for_group(mode))
               : openat(folder, path, flags, mode);
}

int fs_shared_open(const char *path, int flags, mode_t mode)
{
    return fs_shared_openat(AT_FDCWD, path, flags, mode);
}

/* A new folder, which is empty. A link with a slash behind it would be
 * followed. */
static void pass_on(int folder, const char *path)
{
    char *name;
    int fd;

    if (!is_in_shared(folder, path))
        return;
    name = mem_copy_bytes(path, length_without_slashes(path));
    fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        fchmod(fd, S_IRWXU | SHARED);
        close(fd);
    }
    free(name);
}

int fs_shared_mkdir(const char *path)
{
    if (mkdir(path, S_IRWXU) != 0)
        return -1;
    pass_on(AT_FDCWD, path);
    return 0;
}

int fs_shared_mkdirat(int folder, const char *path)
{
    if (mkdirat(folder, path, S_IRWXU) != 0)
        return -1;
    pass_on(folder, path);
    return 0;
}

static int check_entry(const FTSENT *entry, struct err *err)
{
    int error = 0;

    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
        entry->fts_info == FTS_NS)
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
