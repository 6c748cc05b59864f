/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "training/streams.h"

/* The format is described on the home page of MNIST: a magic number (two
 * zeroes, 8 for bytes, the number of dimensions), each dimension as a
 * big-endian word, then the bytes. */
enum { IDX_BYTES = 0x800, MAX_DIMENSIONS = 3, GZ_BUFFER_BYTES = 1 << 17 };

struct idx {
    char *path;
    gzFile file;
    size_t dimensions[MAX_DIMENSIONS];
};

static int idx_fail(const struct idx *idx, struct err *err, const char *what)
{
    return err_set(err, ERR_FILE, "'%s' %s", idx->path, what);
}

static void idx_close(struct idx *idx)
{
    if (idx->file != NULL)
        gzclose(idx->file);
    free(idx->path);
}

/* zlib reads a file that is not compressed as it stands. */
static int idx_open(struct idx *idx, const char *directory, const char *prefix,
                    const char *suffix, struct err *err)
{
    char *name = mem_printf("%s-%s.gz", prefix, suffix);

    idx->path = fs_join(directory, name);
    if (!fs_exists(idx->path)) {
        free(idx->path);
        name[strlen(name) - strlen(".gz")] = '\0';
        idx->path = fs_join(directory, name);
    }
    free(name);
    idx->file = gzopen(idx->path, "rbe");
    if (idx->file == NULL)
        return err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
                             errno, "cannot open '%s' (or the same with .gz)",
                             idx->path);
    gzbuffer(idx->file, GZ_BUFFER_BYTES);
    return 0;
}

static int idx_read(struct idx *idx, void *bytes, size_t length,
                    struct err *err)
{
    if (gzfread(bytes, 1, length, idx->file) != length)
        return idx_fail(idx, err, "is damaged or cut short");
    return 0;
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

static int idx_read_header(struct idx *idx, unsigned rank, struct err *err)
{
    uint8_t word[4];

    if (idx_read(idx, word, sizeof(word), err) != 0)
        return -1;
    if (big_endian(word) != (IDX_BYTES | rank))
        return idx_fail(idx, err,
                        rank == 3 ? "is no IDX file of images"
                                  : "is no IDX file of labels");
    for (unsigned i = 0; i < rank; i++) {
        if (idx_read(idx, word, sizeof(word), err) != 0)
            return -1;
        idx->dimensions[i] = big_endian(word);
    }
    return 0;
}

/* Only a read past the end compares the checksum of gzip. */
static int idx_read_end(struct idx *idx, struct err *err)
{
    bool ended = gzgetc(idx->file) == -1 && gzeof(idx->file);
    int status = gzclose(idx->file);

    idx->file = NULL;
    if (ended && status == Z_OK)
        return 0;
    return idx_fail(idx, err, "is damaged or longer than it says");
}

/* The bytes behind the header, and nothing behind them: malloc'ed. */
static uint8_t *idx_read_body(struct idx *idx, size_t length, struct err *err)
{
    uint8_t *bytes;

    if (length == 0) {
        idx_fail(idx, err, "is empty");
        return NULL;
    }
    bytes = malloc(length);
    if (bytes == NULL) {
        err_set(err, ERR_FAILED, "no memory for the %zu bytes of '%s'", length,
                idx->path);
        return NULL;
    }
    if (idx_read(idx, bytes, length, err) == 0 && idx_read_end(idx, err) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

static int load_images(struct idx *idx, struct dataset *data, struct err *err)
{
    const size_t *dimensions = idx->dimensions;

    if (idx_read_header(idx, 3, err) != 0)
        return -1;
    for (int i = 1; i < 3; i++)
        if (dimensions[i] > DATA_MAX_SIDE)
            return idx_fail(idx, err, "has images over 1024 x 1024");
    if (dimensions[0] > DATA_MAX_IMAGES)
        return idx_fail(idx, err, "has over 10,000,000 images");
    data->count = dimensions[0];
    data->inputs = dimensions[1] * dimensions[2];
    data->images = idx_read_body(idx, data->count * data->inputs, err);
    return data->images != NULL ? 0 : -1;
}

static int load_labels(struct idx *idx, struct dataset *data, struct err *err)
{
    if (idx_read_header(idx, 1, err) != 0)
        return -1;
    if (idx->dimensions[0] != data->count)
        return err_set(err, ERR_FILE, "'%s' has %zu labels for %zu images",
                       idx->path, idx->dimensions[0], data->count);
    data->labels = idx_read_body(idx, data->count, err);
    if (data->labels == NULL)
        return -1;
    for (size_t i = 0; i < data->count; i++)
        if (data->labels[i] >= DATA_CLASSES)
            return err_set(err, ERR_FILE,
                           "'%s' has the label %d, which is over %d", idx->path,
                           data->labels[i], DATA_CLASSES - 1);
    return 0;
}

int data_load(const char *directory, const char *prefix, struct dataset *data,
              struct err *err)
{
    struct idx images = {0}, labels = {0};
    int status = -1;

    memset(data, 0, sizeof(*data));
    if (idx_open(&images, directory, prefix, "images-idx3-ubyte", err) == 0 &&
        idx_open(&labels, directory, prefix, "labels-idx1-ubyte", err) == 0 &&
        load_images(&images, data, err) == 0 &&
        load_labels(&labels, data, err) == 0)
        status = 0;
    idx_close(&images);
    idx_close(&labels);
    return status;
}

void data_clear(struct dataset *data)
{
    free(data->images);
    free(data->labels);
    memset(data, 0, sizeof(*data));
}

void data_shuffle(uint32_t *order, size_t count, uint64_t seed, uint64_t epoch)
{
    struct rng rng;

    rng_init(&rng, seed, epoch, STREAM_ORDER);
    for (size_t i = 0; i < count; i++) {
        /* Fisher and Yates, from the inside out. */
        size_t j = (size_t)rng_below(&rng, i + 1);

        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
}
