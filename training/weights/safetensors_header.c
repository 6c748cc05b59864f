/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Headers of safetensors, read and written. Files come from strangers, so
 * nothing of a header is believed before it is checked: sizes multiply without
 * overflow, and the tensors in the order of their data cover it from its first
 * byte to its last. That is the rule of the format's own library, and it leaves
 * no two tensors on the same bytes.
 */
#include "training/weights/safetensors_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

enum { ALIGN_BYTES = 8, NAME_MAX_BYTES = 256 };

static const char METADATA[] = "__metadata__";

static int fail(const char *name, struct err *err, const char *what)
{
    struct buf shown = BUF_INIT;

    text_escape(name, strnlen(name, NAME_MAX_BYTES), &shown);
    err_set(err, ERR_FILE, "tensor '%s' %s", buf_text(&shown), what);
    buf_clear(&shown);
    return -1;
}

static bool is_fit_to_print(const char *name)
{
    size_t length = strlen(name);
    uint32_t rune;

    if (length == 0 || length > NAME_MAX_BYTES)
        return false;
    for (size_t at = 0, size; at < length; at += size) {
        size = text_next_rune(name + at, length - at, &rune);
        if (size == 0 || text_is_control(rune))
            return false;
    }
    return true;
}

static int read_shape(const json_t *shape, struct weight *weight,
                      struct err *err)
{
    size_t dimensions = json_array_size(shape);

    if (!json_is_array(shape) || dimensions > WEIGHT_MAX_DIMENSIONS)
        return fail(weight->name, err, "needs a shape of at most 8 dimensions");
    weight->dimensions = dimensions;
    weight->count = 1;
    for (size_t i = 0; i < dimensions; i++) {
        const json_t *size = json_array_get(shape, i);

        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return fail(weight->name, err,
                        "has a shape with something else than sizes");
        weight->shape[i] = (uint64_t)json_integer_value(size);
        if (__builtin_mul_overflow(weight->count, weight->shape[i],
                                   &weight->count))
            return fail(weight->name, err, "is too large");
    }
    if (__builtin_mul_overflow(weight->count, dtype_bytes(weight->dtype),
                               &weight->bytes))
        return fail(weight->name, err, "is too large");
    return 0;
}

static int read_offsets(const json_t *offsets, struct weight *weight,
                        uint64_t data_bytes, struct err *err)
{
    const json_t *begin = json_array_get(offsets, 0);
    const json_t *end = json_array_get(offsets, 1);
    char *what;

    if (json_array_size(offsets) != 2 || !json_is_integer(begin) ||
        !json_is_integer(end) || json_integer_value(begin) < 0 ||
        json_integer_value(end) < json_integer_value(begin))
        return fail(weight->name, err, "needs data_offsets [BEGIN, END]");
    weight->begin = (uint64_t)json_integer_value(begin);
    if ((uint64_t)json_integer_value(end) > data_bytes)
        return fail(weight->name, err,
                    "ends beyond the end of the file: the file is cut short "
                    "or damaged");
    if ((uint64_t)json_integer_value(end) - weight->begin == weight->bytes)
        return 0;
    what = mem_printf("has %" PRIu64 " bytes, its shape and type need %" PRIu64,
                      (uint64_t)json_integer_value(end) - weight->begin,
                      weight->bytes);
    fail(weight->name, err, what);
    free(what);
    return -1;
}

static int read_weight(const char *name, const json_t *json,
                       uint64_t data_bytes, struct weight *weight,
                       struct err *err)
{
    const char *dtype = json_string_value(json_object_get(json, "dtype"));

    weight->name = mem_copy_string(name);
    if (!is_fit_to_print(name))
        return fail(name, err, "has a name that cannot be printed");
    weight->dtype = dtype != NULL ? dtype_find(dtype) : DTYPE_COUNT;
    if (weight->dtype == DTYPE_COUNT)
        return fail(name, err,
                    dtype == NULL ? "has no dtype" : "has an unknown dtype");
    if (read_shape(json_object_get(json, "shape"), weight, err) != 0)
        return -1;
    return read_offsets(json_object_get(json, "data_offsets"), weight,
                        data_bytes, err);
}

/* Those without data come before the one at whose begin they are. */
static int compare_places(const void *one, const void *other)
{
    const struct weight *a = one, *b = other;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return weight_compare(one, other);
}

static int check_places(const struct weight *weights, size_t count,
                        uint64_t data_bytes, struct err *err)
{
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        if (weights[i].begin != end)
            return fail(weights[i].name, err,
                        weights[i].begin < end
                            ? "has bytes that another tensor has"
                            : "begins behind bytes that no tensor has");
        end += weights[i].bytes;
    }
    if (end != data_bytes)
        return err_set(err, ERR_FILE,
                       "the tensors have %" PRIu64 " bytes, the file %" PRIu64,
                       end, data_bytes);
    return 0;
}

static int read_weights(json_t *json, uint64_t data_bytes,
                        struct weight **weights, size_t *count, struct err *err)
{
    const char *name;
    json_t *item;

    *weights = mem_array(json_object_size(json) + 1, sizeof(**weights));
    json_object_foreach(json, name, item)
    {
        if (strcmp(name, METADATA) == 0)
            continue;
        if (read_weight(name, item, data_bytes, &(*weights)[(*count)++], err) !=
            0)
            return -1;
    }
    qsort(*weights, *count, sizeof(**weights), compare_places);
    return check_places(*weights, *count, data_bytes, err);
}

struct weight *safetensors_header_parse(const char *text, size_t length,
                                        uint64_t data_bytes, size_t *count,
                                        struct err *err)
{
    json_t *json =
        json_parse_up_to(text, length, SAFETENSORS_HEADER_MAX_BYTES, err);
    struct weight *weights = NULL;
    int status = -1;

    *count = 0;
    if (json != NULL && !json_is_object(json))
        err_set(err, ERR_FILE, "the header is no JSON object");
    else if (json != NULL)
        status = read_weights(json, data_bytes, &weights, count, err);
    json_decref(json);
    if (status == 0)
        return weights;
    safetensors_header_free(weights, *count);
    *count = 0;
    return NULL;
}

void safetensors_header_free(struct weight *weights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(weights[i].name);
    free(weights);
}

static json_t *to_json(const struct weight *weight)
{
    json_t *shape = json_array(), *offsets = json_array();
    uint64_t end = weight->begin + weight->bytes;

    for (size_t i = 0; i < weight->dimensions; i++)
        json_array_append_new(shape,
                              json_integer((json_int_t)weight->shape[i]));
    json_array_append_new(offsets, json_integer((json_int_t)weight->begin));
    json_array_append_new(offsets, json_integer((json_int_t)end));
    return json_pack("{s:s, s:o, s:o}", "dtype", dtype_name(weight->dtype),
                     "shape", shape, "data_offsets", offsets);
}

/* Some readers ask for "format", the framework whose layout it is. */
void safetensors_header_print(struct weight *weights, size_t count,
                              struct buf *out)
{
    json_t *json = json_pack("{s:{s:s}}", METADATA, "format", "pt");
    size_t start = out->length, length;
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        weights[i].begin = end;
        weights[i].bytes = weights[i].count * dtype_bytes(weights[i].dtype);
        end += weights[i].bytes;
        json_object_set_new(json, weights[i].name, to_json(&weights[i]));
    }
    for (size_t i = 0; i < SAFETENSORS_LENGTH_BYTES; i++)
        buf_add_char(out, '\0');
    json_print(json, out);
    json_decref(json);
    while ((out->length - start) % ALIGN_BYTES != 0)
        buf_add_char(out, ' ');
    length = out->length - start - SAFETENSORS_LENGTH_BYTES;
    for (size_t i = 0; i < SAFETENSORS_LENGTH_BYTES; i++)
        out->data[start + i] = (char)(length >> 8 * i & 0xff);
}
