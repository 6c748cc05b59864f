/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/weights/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "training/weights/safetensors_header.h"

enum { CHUNK_NUMBERS = 1 << 16 };

struct safetensors {
    char *path;
    int fd;
    uint64_t data_at; /* in the file */
    struct weight *weights;
    size_t count;
};

/* All of the bytes, or -1 with errno; 0 where the file ends before. */
static int read_at(int fd, void *bytes, size_t length, uint64_t at)
{
    char *to = bytes;

    while (length > 0) {
        ssize_t got = pread(fd, to, length, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : 0;
        to += got;
        at += (uint64_t)got;
        length -= (size_t)got;
    }
    return 1;
}

static int fail_to_read(const char *path, int status, struct err *err)
{
    if (status < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", path);
    return err_set(err, ERR_FILE, "'%s' is cut short", path);
}

static int parse(struct safetensors *file, const char *text, size_t length,
                 uint64_t data_bytes, struct err *err)
{
    file->weights =
        safetensors_header_parse(text, length, data_bytes, &file->count, err);
    if (file->weights == NULL)
        return err_prefix(err, "'%s'", file->path);
    qsort(file->weights, file->count, sizeof(*file->weights), weight_compare);
    return 0;
}

static int read_header(struct safetensors *file, uint64_t size, struct err *err)
{
    uint8_t prefix[SAFETENSORS_LENGTH_BYTES];
    uint64_t length = 0;
    char *text;
    int status = read_at(file->fd, prefix, sizeof(prefix), 0);

    if (status != 1)
        return fail_to_read(file->path, status, err);
    for (size_t i = sizeof(prefix); i-- > 0;)
        length = length << 8 | prefix[i];
    if (size < sizeof(prefix) || length > size - sizeof(prefix) ||
        length > SAFETENSORS_HEADER_MAX_BYTES)
        return err_set(err, ERR_FILE,
                       "'%s' is no file of safetensors, or is damaged: its "
                       "header would be too long",
                       file->path);
    file->data_at = sizeof(prefix) + length;
    text = mem_alloc(length + 1);
    status = read_at(file->fd, text, length, sizeof(prefix));
    if (status != 1)
        status = fail_to_read(file->path, status, err);
    else
        status = parse(file, text, length, size - file->data_at, err);
    free(text);
    return status;
}

struct safetensors *safetensors_open(const char *path, struct err *err)
{
    struct safetensors *file = mem_zero(sizeof(*file));
    struct stat about;
    int status = -1;

    file->path = mem_copy_string(path);
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0 || fstat(file->fd, &about) != 0)
        err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED, errno,
                      "cannot read '%s'", path);
    else if (!S_ISREG(about.st_mode))
        err_set(err, ERR_FILE, "'%s' is not a file", path);
    else
        status = read_header(file, (uint64_t)about.st_size, err);
    if (status == 0)
        return file;
    safetensors_close(file);
    return NULL;
}

void safetensors_close(struct safetensors *file)
{
    if (file == NULL)
        return;
    if (file->fd >= 0)
        close(file->fd);
    safetensors_header_free(file->weights, file->count);
    free(file->path);
    free(file);
}

const struct weight *safetensors_weights(const struct safetensors *file,
                                         size_t *count)
{
    *count = file->count;
    return file->weights;
}

const struct weight *safetensors_find(const struct safetensors *file,
                                      const char *name)
{
    char *key = mem_copy_string(name);
    const struct weight wanted = {.name = key};
    const struct weight *found =
        bsearch(&wanted, file->weights, file->count, sizeof(*file->weights),
                weight_compare);

    free(key);
    return found;
}

int safetensors_read(const struct safetensors *file,
                     const struct weight *weight, uint64_t first, size_t count,
                     float *numbers, struct err *err)
{
    size_t bytes = dtype_bytes(weight->dtype), part;
    uint64_t at = file->data_at + weight->begin + first * bytes;
    size_t most = count < CHUNK_NUMBERS ? count : CHUNK_NUMBERS;
    void *chunk = mem_alloc(most * bytes + 1);
    int status = 1;

    for (; count > 0 && status == 1; count -= part) {
        part = count < most ? count : most;
        status = read_at(file->fd, chunk, part * bytes, at);
        if (status == 1)
            dtype_decode(weight->dtype, chunk, part, numbers);
        numbers += part;
        at += part * bytes;
    }
    if (status != 1)
        fail_to_read(file->path, status, err);
    free(chunk);
    return status == 1 ? 0 : -1;
}

static int write_numbers(int fd, const struct weight *weight, size_t index,
                         const struct weight_source *source)
{
    size_t bytes = dtype_bytes(weight->dtype), part;
    float *numbers = mem_array(CHUNK_NUMBERS, sizeof(*numbers));
    void *chunk = mem_array(CHUNK_NUMBERS, bytes);
    int status = 0;

    for (uint64_t at = 0; at < weight->count && status == 0; at += part) {
        part = weight->count - at < CHUNK_NUMBERS ? (size_t)(weight->count - at)
                                                  : CHUNK_NUMBERS;
        source->take(source->user, index, at, part, numbers);
        dtype_encode(weight->dtype, numbers, part, chunk);
        status = fs_write_all(fd, chunk, part * bytes);
    }
    free(numbers);
    free(chunk);
    return status;
}

static int write_all(int fd, struct weight *weights, size_t count,
                     const struct weight_source *source)
{
    struct buf header = BUF_INIT;
    int status;

    safetensors_header_print(weights, count, &header);
    status = fs_write_all(fd, header.data, header.length);
    buf_clear(&header);
    for (size_t i = 0; i < count && status == 0; i++)
        status = write_numbers(fd, &weights[i], i, source);
    return status;
}

/* Not fs_write_atomic: that wants all bytes in one place. */
int safetensors_write(const char *path, struct weight *weights, size_t count,
                      const struct weight_source *source, struct err *err)
{
    char *temporary = mem_printf("%s.tmp", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool is_written = fd >= 0 && write_all(fd, weights, count, source) == 0;
    int status = fs_put_in_place(fd, temporary, path, is_written, err);

    free(temporary);
    return status;
}
