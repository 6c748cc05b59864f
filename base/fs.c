/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files and folders, by two rules. A file is replaced by a temporary file
 * beside it, fsync and rename, so that a reader sees the old content or the new
 * one. A tree is walked without following symbolic links, so that nothing
 * outside it is removed or copied.
 *
 * Readers take a limit, because a file from outside can be of any size.
 * fs_read_regular() never waits on a pipe that somebody put there.
 * fs_copy_tree() is in base/fs_copy.c, and the modes of what a group shares in
 * base/fs_shared.c.
 */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/count.h"
#include "base/mem.h"

enum { CHUNK_BYTES = 64 * 1024 };

static int read_all(int fd, const char *path, size_t max_bytes, struct buf *out,
                    struct err *err)
{
    size_t start = out->length;

    for (;;) {
        char *room = buf_reserve(out, CHUNK_BYTES);
        ssize_t got = read(fd, room, CHUNK_BYTES);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'",
                                 path);
        if (got == 0)
            break;
        out->length += (size_t)got;
        out->data[out->length] = '\0';
        if (out->length - start > max_bytes)
            return err_set(err, ERR_FILE, "'%s' is longer than %zu bytes", path,
                           max_bytes);
    }
    return 0;
}

static int open_to_read(const char *path, int flags, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    bool missing = errno == ENOENT || errno == ENOTDIR;

    if (fd < 0)
        err_set_errno(err, missing ? ERR_NOT_FOUND : ERR_FAILED, errno,
                      "cannot open '%s'", path);
    return fd;
}

int fs_read(const char *path, size_t max_bytes, struct buf *out,
            struct err *err)
{
    int fd, rc;

    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, path, max_bytes, out, err);
    fd = open_to_read(path, 0, err);
    if (fd < 0)
        return -1;
    rc = read_all(fd, path, max_bytes, out, err);
    close(fd);
    return rc;
}

int fs_read_regular(const char *path, size_t max_bytes, struct buf *out,
                    struct err *err)
{
    int fd = open_to_read(path, O_NONBLOCK | O_NOCTTY, err);
    struct stat status;
    int rc;

    if (fd < 0)
        return -1;
    if (fstat(fd, &status) != 0)
        rc = err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", path);
    else if (!S_ISREG(status.st_mode))
        rc = err_set(err, ERR_FILE, "'%s' is not a file", path);
    else
        rc = read_all(fd, path, max_bytes, out, err);
    close(fd);
    return rc;
}

int fs_read_tail(const char *path, size_t max_bytes, struct buf *out)
{
    int fd = open_to_read(path, O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, NULL);
    off_t room = (off_t)max_bytes;
    struct stat status;
    ssize_t length = -1;

    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        length = pread(fd, buf_reserve(out, max_bytes), max_bytes,
                       status.st_size > room ? status.st_size - room : 0);
    close(fd);
    if (length < 0)
        return -1;
    out->length += (size_t)length;
    out->data[out->length] = '\0';
    return 0;
}

int fs_write_all(int fd, const void *data, size_t length)
{
    const char *bytes = data;

    while (length > 0) {
        ssize_t put = write(fd, bytes, length);
        struct pollfd room = {.fd = fd, .events = POLLOUT};

        if (put < 0 && errno == EAGAIN)
            poll(&room, 1, -1);
        else if (put < 0 && errno != EINTR)
            return -1;
        bytes += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    return 0;
}

void fs_sync_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash == NULL
                          ? mem_copy_string(".")
                          : mem_copy_bytes(path, (size_t)(slash - path) + 1);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

int fs_put_in_place(int fd, const char *temporary, const char *path,
                    bool is_written, struct err *err)
{
    bool is_done = is_written && fsync(fd) == 0 && rename(temporary, path) == 0;
    int saved = errno;

    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !is_done)
        unlink(temporary);
    if (!is_done)
        return err_set_errno(err, ERR_FAILED, saved, "cannot write '%s'", path);
    fs_sync_directory_of(path);
    return 0;
}

int fs_write_atomic(const char *path, const void *bytes, size_t length,
                    mode_t mode, struct err *err)
{
    char *temporary = mem_printf("%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    bool is_written = fd >= 0 && fs_write_all(fd, bytes, length) == 0 &&
                      fchmod(fd, mode) == 0;
    int status = fs_put_in_place(fd, temporary, path, is_written, err);

    free(temporary);
    return status;
}

static int make_directory(const char *path, bool inherits, struct err *err)
{
    struct stat st;

    if ((inherits ? fs_shared_mkdir(path) : mkdir(path, 0700)) == 0)
        return 0;
    if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return err_set_errno(err, ERR_FAILED, errno,
                         "cannot make the directory '%s'", path);
}

static int make_directories(const char *path, bool inherits, struct err *err)
{
    char *copy = mem_copy_string(path);
    int rc = 0;

    for (char *p = copy; *p != '\0' && rc == 0; p++) {
        if (*p != '/' || p == copy)
            continue;
        *p = '\0';
        rc = make_directory(copy, inherits, err);
        *p = '/';
    }
    if (rc == 0)
        rc = make_directory(copy, inherits, err);
    free(copy);
    return rc;
}

int fs_make_directories(const char *path, struct err *err)
{
    return make_directories(path, false, err);
}

int fs_make_shared_directories(const char *path, struct err *err)
{
    return make_directories(path, true, err);
}

int fs_make_trial_directories(const char *path, struct err *err)
{
    const char *trial = getenv("SMTUNE_DIR");
    char *absolute = fs_absolute(path);
    bool is_smtunes =
        trial != NULL && trial[0] == '/' && fs_is_within(absolute, trial);

    free(absolute);
    return is_smtunes ? fs_make_shared_directories(path, err)
                      : fs_make_directories(path, err);
}

int fs_write_below(const char *path, const void *bytes, size_t length,
                   mode_t mode, struct err *err)
{
    char *folder = mem_copy_string(path), *slash = strrchr(folder, '/');
    int result = 0;

    if (slash != NULL && slash != folder) {
        *slash = '\0';
        result = fs_make_shared_directories(folder, err);
    }
    free(folder);
    return result == 0 ? fs_write_atomic(path, bytes, length,
                                         fs_shared_mode(path, mode), err)
                       : -1;
}

int64_t fs_tree_bytes(const char *path)
{
    char *copy = mem_copy_string(path);
    char *roots[] = {copy, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    int64_t bytes = 0;

    while (tree != NULL && (entry = fts_read(tree)) != NULL)
        bytes = count_add(
            bytes, entry->fts_info == FTS_F ? entry->fts_statp->st_size : 0);
    if (tree != NULL)
        fts_close(tree);
    free(copy);
    return bytes;
}

static int remove_entry(FTSENT *entry, struct err *err)
{
    int rc = 0;

    switch (entry->fts_info) {
    case FTS_D:
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        if (entry->fts_errno == ENOENT)
            break;
        return err_set_errno(err, ERR_FAILED, entry->fts_errno,
                             "cannot remove '%s'", entry->fts_path);
    case FTS_DP:
        rc = rmdir(entry->fts_accpath);
        break;
    default:
        rc = unlink(entry->fts_accpath);
        break;
    }
    if (rc != 0 && errno != ENOENT)
        return err_set_errno(err, ERR_FAILED, errno, "cannot remove '%s'",
                             entry->fts_path);
    return 0;
}

int fs_remove_tree(const char *path, struct err *err)
{
    char *copy = mem_copy_string(path);
    char *roots[] = {copy, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    int rc = 0;

    if (tree == NULL)
        rc = err_set_errno(err, ERR_FAILED, errno, "cannot remove '%s'", path);
    while (rc == 0 && (entry = fts_read(tree)) != NULL)
        rc = remove_entry(entry, err);
    if (tree != NULL)
        fts_close(tree);
    free(copy);
    return rc;
}

bool fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool fs_is_at(int fd, const char *path)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

bool fs_is_within(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    while (length > 0 && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '\0' || path[length] == '/');
}

char *fs_join(const char *directory, const char *name)
{
    size_t length = strlen(directory);

    if (name[0] == '/' || length == 0)
        return mem_copy_string(name);
    return mem_printf("%s%s%s", directory,
                      directory[length - 1] == '/' ? "" : "/", name);
}

/* Appends the parts of a path but "." and empty ones, each after a slash. */
static void add_parts(struct buf *out, const char *path)
{
    while (*path != '\0') {
        size_t length = strcspn(path, "/");

        if (length > 0 && !(length == 1 && *path == '.')) {
            buf_add_char(out, '/');
            buf_add(out, path, length);
        }
        path += length + (path[length] == '/');
    }
}

char *fs_absolute(const char *path)
{
    struct buf out = BUF_INIT;
    char here[PATH_MAX];

    if (path[0] != '/' && getcwd(here, sizeof(here)) != NULL)
        add_parts(&out, here);
    add_parts(&out, path);
    if (out.length == 0)
        buf_add_char(&out, '/');
    return buf_take(&out);
}

char *fs_program_directory(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    if (length < 0)
        return mem_copy_string(".");
    path[length] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL)
        return mem_copy_string(".");
    return mem_copy_bytes(path, slash == path ? 1 : (size_t)(slash - path));
}
