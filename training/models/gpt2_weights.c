/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The weights of a gpt under the names of Hugging Face's GPT-2. Its weights of
 * products are [inputs][outputs] (the class Conv1D), smtrain's are
 * [outputs][inputs]; queries, keys and values have the same order in both. The
 * head is the table of tokens, which is in a file once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "training/models/gpt2_files.h"
#include "training/models/params.h"
#include "training/weights/weight_files.h"

enum { CHUNK_NUMBERS = 1 << 16, NAME_MAX_BYTES = 64 };

enum layout { VECTOR, MATRIX, TRANSPOSED };

struct place {
    const char *ours, *theirs;
    enum layout layout;
};

static const struct place outer[] = {
    {"tokens", "wte.weight", MATRIX},
    {"positions", "wpe.weight", MATRIX},
    {"norm.gain", "ln_f.weight", VECTOR},
    {"norm.bias", "ln_f.bias", VECTOR},
};

static const struct place in_block[] = {
    {"norm1.gain", "ln_1.weight", VECTOR},
    {"norm1.bias", "ln_1.bias", VECTOR},
    {"attention.in.weight", "attn.c_attn.weight", TRANSPOSED},
    {"attention.in.bias", "attn.c_attn.bias", VECTOR},
    {"attention.out.weight", "attn.c_proj.weight", TRANSPOSED},
    {"attention.out.bias", "attn.c_proj.bias", VECTOR},
    {"norm2.gain", "ln_2.weight", VECTOR},
    {"norm2.bias", "ln_2.bias", VECTOR},
    {"mlp.in.weight", "mlp.c_fc.weight", TRANSPOSED},
    {"mlp.in.bias", "mlp.c_fc.bias", VECTOR},
    {"mlp.out.weight", "mlp.c_proj.weight", TRANSPOSED},
    {"mlp.out.bias", "mlp.c_proj.bias", VECTOR},
};

static const char BLOCK[] = "block"; /* in ours, then its number and a dot */
static const char PREFIX[] = "transformer."; /* which some files leave out */
static const char HEAD[] = "lm_head.weight";

/* Of all tensors that a file may have besides: the mask of attention. */
static const char *const ignored[] = {".attn.bias", ".attn.masked_bias"};

/* The one of that name; there is one. */
static const struct place *find(const struct place *places, const char *name)
{
    while (strcmp(places->ours, name) != 0)
        places++;
    return places;
}

/* The place of a tensor, and its name there without the prefix. */
static const struct place *place_of(const struct tensor *tensor,
                                    char name[NAME_MAX_BYTES])
{
    const struct place *place;
    long layer;
    char *end;

    if (strncmp(tensor->name, BLOCK, strlen(BLOCK)) == 0) {
        layer = strtol(tensor->name + strlen(BLOCK), &end, 10);
        place = find(in_block, end + 1);
        snprintf(name, NAME_MAX_BYTES, "h.%ld.%s", layer, place->theirs);
        return place;
    }
    place = find(outer, tensor->name);
    snprintf(name, NAME_MAX_BYTES, "%s", place->theirs);
    return place;
}

/* The shape there. */
static void set_shape(const struct tensor *tensor, enum layout layout,
                      struct weight *weight)
{
    weight->dimensions = layout == VECTOR ? 1 : 2;
    weight->shape[0] = layout == MATRIX ? tensor->rows : tensor->columns;
    weight->shape[1] = layout == MATRIX ? tensor->columns : tensor->rows;
    weight->count = (uint64_t)tensor->rows * tensor->columns;
}

/* Where a number of the file belongs. */
static size_t index_of(const struct tensor *tensor, enum layout layout,
                       uint64_t number)
{
    if (layout != TRANSPOSED)
        return (size_t)number;
    return (size_t)(number % tensor->rows * tensor->columns +
                    number / tensor->rows);
}

struct reading {
    struct weight_files *files;
    struct params *params;
    const char *prefix;
    const struct weight **used; /* [params->tensor_count] */
    float *chunk;               /* [CHUNK_NUMBERS] */
};

static bool is_positions(const struct tensor *tensor)
{
    return strcmp(tensor->name, "positions") == 0;
}

static int check_shape(const struct tensor *tensor, enum layout layout,
                       const struct weight *weight, struct err *err)
{
    struct weight expected = {0};
    struct buf theirs = BUF_INIT, ours = BUF_INIT;

    set_shape(tensor, layout, &expected);
    if (weight->dimensions == expected.dimensions &&
        (weight->shape[0] == expected.shape[0] ||
         (is_positions(tensor) && weight->shape[0] > expected.shape[0])) &&
        (layout == VECTOR || weight->shape[1] == expected.shape[1]))
        return 0;
    weight_print_shape(weight, &theirs);
    weight_print_shape(&expected, &ours);
    err_set(err, ERR_FILE, "tensor '%s' has the shape %s, expected %s",
            weight->name, buf_text(&theirs), buf_text(&ours));
    buf_clear(&theirs);
    buf_clear(&ours);
    return -1;
}

static int read_numbers(const struct reading *reading,
                        const struct tensor *tensor, enum layout layout,
                        const struct weight *weight, struct err *err)
{
    real *values = reading->params->values + tensor->offset;
    uint64_t count = (uint64_t)tensor->rows * tensor->columns;
    size_t part;

    for (uint64_t at = 0; at < count; at += part) {
        part =
            count - at < CHUNK_NUMBERS ? (size_t)(count - at) : CHUNK_NUMBERS;
        if (weight_files_read(reading->files, weight, at, part, reading->chunk,
                              err) != 0)
            return -1;
        for (size_t i = 0; i < part; i++)
            values[index_of(tensor, layout, at + i)] = reading->chunk[i];
    }
    return 0;
}

static int read_tensor(const struct reading *reading, size_t index,
                       struct err *err)
{
    const struct tensor *tensor = &reading->params->tensors[index];
    char name[NAME_MAX_BYTES];
    const struct place *place = place_of(tensor, name);
    char *full = mem_printf("%s%s", reading->prefix, name);
    const struct weight *weight = weight_files_find(reading->files, full);
    struct weight expected = {0};
    struct buf shape = BUF_INIT;
    int status = -1;

    if (weight == NULL) {
        set_shape(tensor, place->layout, &expected);
        weight_print_shape(&expected, &shape);
        err_set(err, ERR_FILE, "no tensor '%s', expected with the shape %s",
                full, buf_text(&shape));
    } else if (check_shape(tensor, place->layout, weight, err) == 0) {
        reading->used[index] = weight;
        status = read_numbers(reading, tensor, place->layout, weight, err);
    }
    buf_clear(&shape);
    free(full);
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);

    return length >= size && strcmp(text + length - size, end) == 0;
}

/* A head of its own can only be left out where it is the table of tokens. */
static int check_head(const struct reading *reading, const struct weight *head,
                      struct err *err)
{
    const struct tensor *table = &reading->params->tensors[0]; /* tokens */
    const real *values = reading->params->values + table->offset;
    size_t part;

    if (check_shape(table, MATRIX, head, err) != 0)
        return -1;
    for (uint64_t at = 0; at < head->count; at += part) {
        part = head->count - at < CHUNK_NUMBERS ? (size_t)(head->count - at)
                                                : CHUNK_NUMBERS;
        if (weight_files_read(reading->files, head, at, part, reading->chunk,
                              err) != 0)
            return -1;
        for (size_t i = 0; i < part; i++)
            if ((real)reading->chunk[i] != values[at + i])
                return err_set(err, ERR_FILE,
                               "tensor '%s' differs from 'wte.weight': "
                               "smtrain's gpt has one table for both",
                               head->name);
    }
    return 0;
}

static bool is_used(const struct reading *reading, const struct weight *weight)
{
    for (size_t i = 0; i < reading->params->tensor_count; i++)
        if (reading->used[i] == weight)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        if (ends_with(weight->name, ignored[i]))
            return true;
    return false;
}

static int check_others(const struct reading *reading, struct err *err)
{
    for (size_t i = 0; i < weight_files_count(reading->files); i++) {
        const struct weight *weight = weight_files_at(reading->files, i);
        struct buf shape = BUF_INIT;

        if (is_used(reading, weight))
            continue;
        if (strcmp(weight->name, HEAD) == 0) {
            if (check_head(reading, weight, err) != 0)
                return -1;
            continue;
        }
        weight_print_shape(weight, &shape);
        err_set(err, ERR_FILE,
                "tensor '%s' of shape %s has no place in this gpt",
                weight->name, buf_text(&shape));
        buf_clear(&shape);
        return -1;
    }
    return 0;
}

static bool has_prefix(const struct weight_files *files)
{
    char *name = mem_printf("%s%s", PREFIX, outer[0].theirs);
    bool has = weight_files_find(files, name) != NULL;

    free(name);
    return has;
}

int gpt2_weights_read(const char *folder, struct params *params,
                      struct err *err)
{
    struct reading reading = {.files = weight_files_open(folder, err),
                              .params = params};
    int status = 0;

    if (reading.files == NULL)
        return -1;
    reading.prefix = has_prefix(reading.files) ? PREFIX : "";
    reading.used = mem_array(params->tensor_count, sizeof(struct weight *));
    reading.chunk = mem_array(CHUNK_NUMBERS, sizeof(*reading.chunk));
    for (size_t i = 0; i < params->tensor_count && status == 0; i++)
        status = read_tensor(&reading, i, err);
    if (status == 0)
        status = check_others(&reading, err);
    if (status != 0)
        err_prefix(err, "weights in '%s'", folder);
    free(reading.used);
    free(reading.chunk);
    weight_files_close(reading.files);
    return status;
}

static void take(void *user, size_t index, uint64_t first, size_t count,
                 float *numbers)
{
    const struct params *params = user;
    const struct tensor *tensor = &params->tensors[index];
    const real *values = params->values + tensor->offset;
    char name[NAME_MAX_BYTES];
    enum layout layout = place_of(tensor, name)->layout;

    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)values[index_of(tensor, layout, first + i)];
}

int gpt2_weights_write(const char *folder, const struct params *params,
                       enum dtype dtype, uint64_t shard_bytes, struct err *err)
{
    size_t count = params->tensor_count;
    struct weight *weights = mem_array(count, sizeof(*weights));
    struct params borrowed = *params;
    const struct weight_source source = {take, &borrowed};
    int status;

    for (size_t i = 0; i < count; i++) {
        char name[NAME_MAX_BYTES];
        const struct place *place = place_of(&params->tensors[i], name);

        weights[i].name = mem_printf("%s%s", PREFIX, name);
        weights[i].dtype = dtype;
        set_shape(&params->tensors[i], place->layout, &weights[i]);
    }
    status =
        weight_files_write(folder, weights, count, shard_bytes, &source, err);
    for (size_t i = 0; i < count; i++)
        free(weights[i].name);
    free(weights);
    return status;
}
