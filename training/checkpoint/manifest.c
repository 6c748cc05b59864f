/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a checkpoint's manifest and the tails of its shards. Read
 * training/checkpoint/checkpoint_impl.h for the format.
 *
 * Nothing in these files is trusted: a disk may have lost any of it. The text
 * has a checksum, and each shard one that the manifest repeats, so that shards
 * of two checkpoints never mix. All lengths are checked against the sizes of
 * files before memory is reserved. `extents`, sorted by place, must cover each
 * number of each array exactly once; otherwise a resume with another number of
 * ranks would silently leave zeroes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "training/checkpoint/checkpoint_impl.h"

enum {
    CRC_LINE = sizeof("crc32=89abcdef\n") - 1,
    TAIL = sizeof("text bytes=0123456789\n") - 1 + CRC_LINE
};

static const char MAGIC[] = "smtrain checkpoint 2\n";
static const size_t MAX_TEXT_BYTES = (size_t)1 << 26;
static const size_t BLOCK_BYTES = (size_t)1 << 20;

static int cut_short(const char *path, struct err *err)
{
    return err_set(err, ERR_FAILED, "'%s' is cut short", path);
}

static int damaged(const char *path, struct err *err)
{
    return err_set(err, ERR_FAILED, "'%s' is damaged", path);
}

static int cannot_read(const char *path, struct err *err)
{
    if (errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "'%s' is missing", path);
    return err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", path);
}

/* Reads a line of the checksum; false where it is none. */
static bool read_crc_line(const char *line, uint32_t *crc32)
{
    struct buf again = BUF_INIT;
    bool is_one;

    *crc32 = (uint32_t)strtoul(line + strlen("crc32="), NULL, 16);
    checkpoint_print_crc32(*crc32, &again);
    is_one = memcmp(again.data, line, CRC_LINE) == 0;
    buf_clear(&again);
    return is_one;
}

static int open_shard(const char *path, size_t *bytes, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status;

    if (fd < 0)
        return cannot_read(path, err);
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        *bytes = (size_t)status.st_size;
        return fd;
    }
    close(fd);
    return err_set(err, ERR_FAILED, "'%s' is not a file", path);
}

int checkpoint_read_at(int fd, const char *path, void *out, size_t count,
                       size_t at, struct err *err)
{
    char *to = out;

    while (count > 0) {
        ssize_t got = pread(fd, to, count, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cannot_read(path, err);
        if (got == 0)
            return cut_short(path, err);
        to += got;
        at += (size_t)got;
        count -= (size_t)got;
    }
    return 0;
}

static int read_tail(int fd, const char *path, struct buf *text, size_t bytes,
                     uint32_t *crc32, struct err *err)
{
    static const char name[] = "text bytes=";
    char tail[TAIL + 1] = "";
    size_t length;

    if (bytes < TAIL)
        return cut_short(path, err);
    if (checkpoint_read_at(fd, path, tail, TAIL, bytes - TAIL, err) != 0)
        return -1;
    length = strtoull(tail + strlen(name), NULL, 10);
    if (strncmp(tail, name, strlen(name)) != 0 ||
        !read_crc_line(tail + TAIL - CRC_LINE, crc32) ||
        length > bytes - TAIL || length > MAX_TEXT_BYTES)
        return damaged(path, err);
    if (checkpoint_read_at(fd, path, buf_reserve(text, length), length,
                           bytes - TAIL - length, err) != 0)
        return -1;
    text->length += length;
    text->data[text->length] = '\0';
    return 0;
}

int checkpoint_read_tail(const char *path, struct buf *text, size_t *bytes,
                         uint32_t *crc32, struct err *err)
{
    int fd = open_shard(path, bytes, err);
    int status;

    if (fd < 0)
        return -1;
    status = read_tail(fd, path, text, *bytes, crc32, err);
    close(fd);
    return status;
}

static int verify_bytes(int fd, const struct checkpoint_shard *shard,
                        struct err *err)
{
    size_t end = shard->bytes - CRC_LINE, size;
    char line[CRC_LINE + 1] = "";
    char *block = mem_alloc(BLOCK_BYTES);
    uLong sum = 0;
    uint32_t told;
    int status = 0;

    for (size_t at = 0; at < end && status == 0; at += size) {
        size = end - at < BLOCK_BYTES ? end - at : BLOCK_BYTES;
        status = checkpoint_read_at(fd, shard->path, block, size, at, err);
        if (status == 0)
            sum = crc32_z(sum, (const Bytef *)block, size);
    }
    free(block);
    if (status == 0)
        status = checkpoint_read_at(fd, shard->path, line, CRC_LINE, end, err);
    if (status == 0 && (sum != shard->crc32 || !read_crc_line(line, &told) ||
                        told != shard->crc32))
        status = damaged(shard->path, err);
    return status;
}

int checkpoint_verify_shard(const struct checkpoint_shard *shard,
                            struct err *err)
{
    size_t bytes = 0;
    int fd = open_shard(shard->path, &bytes, err);
    int status;

    if (fd < 0)
        return -1;
    if (bytes < shard->bytes)
        status = cut_short(shard->path, err);
    else if (bytes > shard->bytes)
        status =
            err_set(err, ERR_FAILED, "'%s' is longer than its manifest records",
                    shard->path);
    else
        status = verify_bytes(fd, shard, err);
    close(fd);
    return status;
}

/* Digits and what comes behind them. */
static bool take_number(const char **text, int base, char end, size_t *number)
{
    char *stop;

    *number = strtoull(*text, &stop, base);
    if (stop == *text || *stop != end)
        return false;
    *text = stop + 1;
    return true;
}

static bool add_shard(struct checkpoint *checkpoint, const char *line)
{
    size_t name = strcspn(line, " \n/"), bytes, sum;
    struct checkpoint_shard *shard;
    const char *rest = line + name + 1;

    if (name == 0 || line[name] != ' ' ||
        !take_number(&rest, 10, ' ', &bytes) ||
        !take_number(&rest, 16, '\n', &sum) || bytes < TAIL)
        return false;
    checkpoint->shards =
        mem_grow(checkpoint->shards, checkpoint->shard_count,
                 &checkpoint->shard_capacity, sizeof(*checkpoint->shards));
    shard = &checkpoint->shards[checkpoint->shard_count++];
    shard->path = mem_printf("%s/%.*s", checkpoint->folder, (int)name, line);
    shard->bytes = bytes;
    shard->crc32 = (uint32_t)sum;
    checkpoint->next_at = 0;
    return true;
}

static bool add_piece(struct checkpoint *checkpoint, const char *line)
{
    struct checkpoint_extent extent = {.at = checkpoint->next_at};
    size_t array, bytes;

    if (checkpoint->shard_count == 0 || !take_number(&line, 10, ' ', &array) ||
        !take_number(&line, 10, ' ', &extent.first) ||
        !take_number(&line, 10, '\n', &extent.count) ||
        array >= CHECKPOINT_ARRAYS_MAX)
        return false;
    extent.array = (int)array;
    extent.shard = checkpoint->shard_count - 1;
    if (__builtin_mul_overflow(extent.count, checkpoint->number_bytes,
                               &bytes) ||
        bytes > checkpoint->shards[extent.shard].bytes - extent.at)
        return false;
    checkpoint->next_at += bytes;
    if (extent.count == 0)
        return true;
    checkpoint->extents =
        mem_grow(checkpoint->extents, checkpoint->extent_count,
                 &checkpoint->extent_capacity, sizeof(extent));
    checkpoint->extents[checkpoint->extent_count++] = extent;
    return true;
}

/* What the lines from the first shard on begin with. */
static const struct kind_of_line {
    const char *name;
    bool (*add)(struct checkpoint *checkpoint, const char *value);
} kinds[] = {{"shard=", add_shard}, {"piece=", add_piece}};

static bool add_line(struct checkpoint *checkpoint, const char *line)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t length = strlen(kinds[i].name);

        if (strncmp(line, kinds[i].name, length) == 0)
            return kinds[i].add(checkpoint, line + length);
    }
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct checkpoint_extent *left = a, *right = b;

    if (left->array != right->array)
        return left->array < right->array ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

/* Each number of each array must be there once. */
static bool is_complete(struct checkpoint *checkpoint)
{
    size_t count = checkpoint_number(checkpoint, "numbers of an array");
    size_t arrays = checkpoint_number(checkpoint, "moments") + 1, next = 0;

    for (size_t array = 0; array < arrays; array++) {
        size_t at = 0;

        for (; next < checkpoint->extent_count &&
               checkpoint->extents[next].array == (int)array;
             next++) {
            if (checkpoint->extents[next].first != at)
                return false;
            at += checkpoint->extents[next].count;
        }
        if (at != count)
            return false;
    }
    return next == checkpoint->extent_count;
}

static bool parse(struct checkpoint *checkpoint, const char *text)
{
    const char *shards = strstr(text, "\nshard=");

    if (shards == NULL)
        return false;
    checkpoint->header = mem_copy_bytes(text, (size_t)(shards + 1 - text));
    checkpoint->number_bytes =
        checkpoint_number(checkpoint, "bytes of a number");
    for (const char *line = shards + 1; *line != '\0';
         line = strchr(line, '\n') + 1)
        if (!add_line(checkpoint, line))
            return false;
    if (checkpoint->extent_count > 0)
        qsort(checkpoint->extents, checkpoint->extent_count,
              sizeof(*checkpoint->extents), by_place);
    return is_complete(checkpoint);
}

/* Leaves the lines between the first and the last. */
static int check_text(const char *path, struct buf *text, struct err *err)
{
    uint32_t told;

    if (text->length < CRC_LINE ||
        !read_crc_line(text->data + text->length - CRC_LINE, &told))
        return cut_short(path, err);
    buf_truncate(text, text->length - CRC_LINE);
    if (crc32_z(0, (const Bytef *)buf_text(text), text->length) != told)
        return damaged(path, err);
    if (strncmp(buf_text(text), MAGIC, strlen(MAGIC)) != 0)
        return err_set(err, ERR_FILE,
                       "'%s' was saved by another version of smtrain", path);
    buf_consume(text, strlen(MAGIC));
    return 0;
}

/* Before there were folders, a checkpoint was a file. */
static int check_folder(const char *folder, struct err *err)
{
    struct stat status;

    if (lstat(folder, &status) == 0 && S_ISREG(status.st_mode))
        return err_set(err, ERR_FILE,
                       "'%s' was saved by an earlier version of smtrain: start "
                       "again in another folder",
                       folder);
    return 0;
}

struct checkpoint *checkpoint_read_manifest(const char *folder, struct err *err)
{
    char *path = fs_join(folder, "manifest");
    struct checkpoint *checkpoint = mem_zero(sizeof(*checkpoint));
    struct buf text = BUF_INIT;
    int status = check_folder(folder, err);

    checkpoint->folder = mem_copy_string(folder);
    if (status == 0 && !fs_exists(path))
        status = err_set(err, ERR_NOT_FOUND, "'%s' is missing", path);
    if (status == 0)
        status = fs_read_regular(path, MAX_TEXT_BYTES, &text, err);
    if (status == 0)
        status = check_text(path, &text, err);
    if (status == 0 && !parse(checkpoint, buf_text(&text)))
        status = err_set(err, ERR_FAILED, "'%s' is inconsistent", path);
    buf_clear(&text);
    free(path);
    if (status == 0)
        return checkpoint;
    checkpoint_destroy(checkpoint);
    return NULL;
}
