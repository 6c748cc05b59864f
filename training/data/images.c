/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/data.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "training/util/pages.h"

/* The format is described on the home page of MNIST: a magic number (two
 * zeroes, 8 for bytes, the number of dimensions), each dimension as a
 * big-endian word, then the bytes. */
enum { IDX_BYTES = 0x800, MAX_DIMENSIONS = 3, GZ_BUFFER_BYTES = 1 << 17 };

enum {
    CLASSES = 10,
    MAX_IMAGES = 10 * 1000 * 1000,
    MAX_SIDE = 1024,    /* pixels */
    HELD_OUT_SHARE = 6, /* the last sixth */
    CACHE_LINE_BYTES = 64,
    PREFETCH_AHEAD = 8,   /* images */
    PREFETCH_BYTES = 4096 /* of each; the processor itself goes on from there */
};

/*
 * A pair of IDX files, as MNIST and Fashion-MNIST come:
 * PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte, compressed by gzip
 * (then with .gz behind the name) or not; train for training, t10k for a test.
 */
struct images {
    struct data data;
    uint8_t *pixels; /* [count][input_bytes] */
    uint8_t *labels; /* [count] */
};

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

/* Later versions of zlib report a file that is cut short with the read that
 * sees it, and forget it with the next one. */
static bool idx_is_damaged(struct idx *idx)
{
    int status;

    gzerror(idx->file, &status);
    return status != Z_OK;
}

static int idx_read(struct idx *idx, void *bytes, size_t length,
                    struct err *err)
{
    if (gzfread(bytes, 1, length, idx->file) != length || idx_is_damaged(idx))
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
                        rank == 3 ? "is not an IDX file of images"
                                  : "is not an IDX file of labels");
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
    bool ended =
        gzgetc(idx->file) == -1 && gzeof(idx->file) && !idx_is_damaged(idx);

    gzclose(idx->file);
    idx->file = NULL;
    if (ended)
        return 0;
    return idx_fail(idx, err, "is damaged or longer than its header records");
}

/* Samples are taken from anywhere: of larger pages there are fewer, which the
 * processor finds sooner. */
static void want_huge_pages(uint8_t *bytes, size_t length)
{
    struct pages pages = pages_within(bytes, length);

    if (pages.bytes > 0)
        madvise(pages.at, pages.bytes, MADV_HUGEPAGE);
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
        err_set(err, ERR_FAILED, "out of memory for the %zu bytes of '%s'",
                length, idx->path);
        return NULL;
    }
    want_huge_pages(bytes, length);
    if (idx_read(idx, bytes, length, err) == 0 && idx_read_end(idx, err) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

static int load_images(struct idx *idx, struct images *images, struct err *err)
{
    const size_t *dimensions = idx->dimensions;

    if (idx_read_header(idx, 3, err) != 0)
        return -1;
    for (int i = 1; i < 3; i++)
        if (dimensions[i] > MAX_SIDE)
            return idx_fail(idx, err, "has images larger than 1024 x 1024");
    if (dimensions[0] > MAX_IMAGES)
        return idx_fail(idx, err, "has more than 10,000,000 images");
    images->data.count = dimensions[0];
    images->data.input_bytes = dimensions[1] * dimensions[2];
    images->pixels =
        idx_read_body(idx, images->data.count * images->data.input_bytes, err);
    return images->pixels != NULL ? 0 : -1;
}

static int load_labels(struct idx *idx, struct images *images, struct err *err)
{
    if (idx_read_header(idx, 1, err) != 0)
        return -1;
    if (idx->dimensions[0] != images->data.count)
        return err_set(err, ERR_FILE, "'%s' has %zu labels for %zu images",
                       idx->path, idx->dimensions[0], images->data.count);
    images->labels = idx_read_body(idx, images->data.count, err);
    if (images->labels == NULL)
        return -1;
    for (size_t i = 0; i < images->data.count; i++)
        if (images->labels[i] >= CLASSES)
            return err_set(err, ERR_FILE,
                           "'%s': label %d is out of range 0..%d", idx->path,
                           images->labels[i], CLASSES - 1);
    return 0;
}

static void images_close(struct data *data)
{
    struct images *images = (struct images *)data;

    free(images->pixels);
    free(images->labels);
    free(images);
}

static int load(struct images *images, const char *directory,
                const char *prefix, struct err *err)
{
    struct idx pixels = {0}, labels = {0};
    int status = -1;

    if (idx_open(&pixels, directory, prefix, "images-idx3-ubyte", err) == 0 &&
        idx_open(&labels, directory, prefix, "labels-idx1-ubyte", err) == 0 &&
        load_images(&pixels, images, err) == 0 &&
        load_labels(&labels, images, err) == 0)
        status = 0;
    idx_close(&pixels);
    idx_close(&labels);
    return status;
}

static int hold_out(struct data *data, struct err *err)
{
    size_t held = data->count / HELD_OUT_SHARE;

    if (held == 0)
        return err_set(err, ERR_FILE,
                       "too few images: %zu, at least %d are needed",
                       data->count, HELD_OUT_SHARE);
    data->held_out = data->count - held;
    return 0;
}

static struct data *images_open(const char *path, enum data_part part,
                                const void *model_options, struct err *err)
{
    struct images *images = mem_zero(sizeof(*images));
    struct data *data = &images->data;

    (void)model_options;
    data->kind = &data_images;
    data->targets = 1;
    data->classes = CLASSES;
    if (load(images, path, part == DATA_TRAIN ? "train" : "t10k", err) != 0 ||
        (part == DATA_TRAIN && hold_out(data, err) != 0)) {
        images_close(data);
        return NULL;
    }
    if (part == DATA_TEST)
        data->held_out = data->count;
    data->digest = (uint32_t)crc32_z(0, images->labels, data->count);
    return data;
}

/* Into the second cache: more of that can be under way than into the first. */
static void prefetch(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length && i < PREFETCH_BYTES; i += CACHE_LINE_BYTES)
        __builtin_prefetch(bytes + i, 0, 2);
}

static void images_gather(const struct data *data, const uint32_t *samples,
                          size_t count, void *inputs, uint16_t *targets)
{
    const struct images *images = (const struct images *)data;
    size_t length = data->input_bytes;
    uint8_t *to = inputs;

    for (size_t i = 0; i < count; i++) {
        size_t ahead = i + PREFETCH_AHEAD;

        if (ahead < count)
            prefetch(images->pixels + samples[ahead] * length, length);
        memcpy(to + i * length, images->pixels + samples[i] * length, length);
        targets[i] = images->labels[samples[i]];
    }
}

const struct data_kind data_images = {
    .name = "images",
    .default_path = "/usr/share/datasets/fashion-mnist",
    .package = "dataset-fashion-mnist",
    .open = images_open,
    .close = images_close,
    .gather = images_gather,
};
