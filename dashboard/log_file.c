/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening an attempt's log for a browser or a terminal. A trial can write
 * anything into its folder, also a link to a file that only the owner of the
 * dashboard may read.
 *
 * So every part of the path below the folder of runs is opened by itself,
 * relative to the one before, without following links (O_NOFOLLOW). A path that
 * is checked and then opened could change in between. The last part must be a
 * regular file: a pipe would block, a device could do anything.
 */
#include "dashboard/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

enum { NAME_MAX_BYTES = 32, RANK_COUNT_MAX = 1 << 20 };

static const char runs_folder[] = "runs/";

static bool is_plain(const char *name, size_t length)
{
    return length > 0 && !(length == 1 && name[0] == '.') &&
           !(length == 2 && name[0] == '.' && name[1] == '.');
}

/* A folder in another; -1 with errno, ELOOP or ENOTDIR for a link. Closes the
 * one that it is in. */
static int enter(int folder, const char *name, size_t length)
{
    char *word = mem_copy_bytes(name, length);
    int inner = -1;

    errno = ENOTDIR;
    if (is_plain(name, length))
        inner =
            openat(folder, word, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    free(word);
    close(folder);
    return inner;
}

/* The attempt's folder. The folder of runs itself may be a link: it is its
 * owner who moved it. */
static int open_folder(const char *store, const char *directory)
{
    const char *part = directory + strlen(runs_folder);
    char *runs = fs_join(store, runs_folder);
    int folder = open(runs, O_PATH | O_DIRECTORY | O_CLOEXEC);

    free(runs);
    while (folder >= 0) {
        size_t length = strcspn(part, "/");

        folder = enter(folder, part, length);
        if (part[length] == '\0')
            return folder;
        part += length + 1;
    }
    return -1;
}

/* The log's name; rank 0 writes into the attempt's own. */
static void name_log(char name[NAME_MAX_BYTES], int64_t rank)
{
    if (rank > 0)
        snprintf(name, NAME_MAX_BYTES, "rank-%" PRId64 ".log", rank);
    else
        snprintf(name, NAME_MAX_BYTES, "log");
}

static bool has_rank(int folder, int64_t rank)
{
    char name[NAME_MAX_BYTES];
    struct stat status;

    name_log(name, rank);
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Ranks are numbered without a gap, so that a few questions are enough, and a
 * folder in which a trial has put very many files is not gone through. */
static int64_t count_ranks(int folder)
{
    int64_t there = 0, missing = 1;

    while (missing < RANK_COUNT_MAX && has_rank(folder, missing)) {
        there = missing;
        missing *= 2;
    }
    while (missing - there > 1) {
        int64_t middle = there + (missing - there) / 2;

        if (has_rank(folder, middle))
            there = middle;
        else
            missing = middle;
    }
    return there + 1;
}

static int open_in(int folder, int64_t rank)
{
    char name[NAME_MAX_BYTES];

    name_log(name, rank);
    return openat(folder, name,
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool is_regular(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static int refuse(const char *directory, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND,
                   "the log in '%s' is a link or no regular file; smtune does "
                   "not open it",
                   directory);
}

static int explain(const char *directory, struct err *err)
{
    switch (errno) {
    case ENOENT:
        return 0;
    case ELOOP:
    case ENOTDIR:
    case ENXIO:
        return refuse(directory, err);
    default:
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot open the log in '%s'", directory);
    }
}

int log_file_open(const char *store, const char *directory, int64_t rank,
                  struct log_file *file, struct err *err)
{
    int folder;

    *file = (struct log_file){.fd = -1, .rank_count = 1};
    if (strncmp(directory, runs_folder, strlen(runs_folder)) != 0)
        return refuse(directory, err);
    folder = open_folder(store, directory);
    if (folder < 0)
        return explain(directory, err);
    file->rank_count = count_ranks(folder);
    file->fd = open_in(folder, rank);
    if (file->fd < 0) {
        int status = explain(directory, err);

        close(folder);
        return status;
    }
    close(folder);
    if (is_regular(file->fd))
        return 0;
    close(file->fd);
    file->fd = -1;
    return refuse(directory, err);
}

int log_file_read(int fd, int64_t from_byte, int64_t length,
                  struct log_piece *piece, struct buf *out, struct err *err)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot read the size of a log");
    piece->size_bytes = status.st_size;
    if (from_byte < 0)
        from_byte += piece->size_bytes;
    if (from_byte < 0)
        from_byte = 0;
    if (from_byte > piece->size_bytes)
        from_byte = piece->size_bytes;
    piece->from_byte = from_byte;
    if (length > piece->size_bytes - from_byte)
        length = piece->size_bytes - from_byte;
    while (length > 0) {
        ssize_t got = pread(fd, buf_reserve(out, (size_t)length),
                            (size_t)length, (off_t)from_byte);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set_errno(err, ERR_FAILED, errno, "cannot read a log");
        if (got == 0)
            break;
        out->length += (size_t)got;
        out->data[out->length] = '\0';
        from_byte += got;
        length -= got;
    }
    return 0;
}
