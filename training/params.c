/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "training/streams.h"

enum { ALIGN_ELEMENTS = PARAMS_ALIGN_BYTES / sizeof(real) };

static const size_t MAX_ELEMENTS = (size_t)1 << 31;

int params_add(struct params *params, const char *name, size_t rows,
               size_t columns, struct err *err)
{
    struct tensor *tensor;
    size_t elements;

    if (__builtin_mul_overflow(rows, columns, &elements) ||
        elements > MAX_ELEMENTS - params->count)
        return err_set(err, ERR_USAGE,
                       "the model is too large: tensor '%s' of %zu x %zu", name,
                       rows, columns);
    params->tensors = mem_grow(params->tensors, params->tensor_count,
                               &params->tensor_capacity, sizeof(*tensor));
    tensor = &params->tensors[params->tensor_count];
    memset(tensor, 0, sizeof(*tensor));
    memcpy(tensor->name, name, strnlen(name, TENSOR_NAME_MAX - 1));
    tensor->rows = rows;
    tensor->columns = columns;
    tensor->offset = params->count;
    params->count +=
        (elements + ALIGN_ELEMENTS - 1) / ALIGN_ELEMENTS * ALIGN_ELEMENTS;
    return (int)params->tensor_count++;
}

int params_allocate(struct params *params, struct err *err)
{
    params->values = real_array(params->count, err);
    params->grads = real_array(params->count, err);
    return params->values != NULL && params->grads != NULL ? 0 : -1;
}

void params_clear(struct params *params)
{
    free(params->tensors);
    free(params->values);
    free(params->grads);
    memset(params, 0, sizeof(*params));
}

static struct matrix view(const struct params *params, int index, real *buffer)
{
    const struct tensor *tensor = &params->tensors[index];

    return (struct matrix){buffer + tensor->offset, tensor->rows,
                           tensor->columns};
}

struct matrix params_value(const struct params *params, int index)
{
    return view(params, index, params->values);
}

struct matrix params_grad(const struct params *params, int index)
{
    return view(params, index, params->grads);
}

void params_init_he(struct params *params, int index, uint64_t seed)
{
    struct matrix weights = params_value(params, index);
    size_t count = weights.rows * weights.columns;
    double deviation = sqrt(2.0 / (double)weights.columns);
    struct rng rng;

    rng_init(&rng, seed, (uint64_t)index, STREAM_INIT);
    for (size_t i = 0; i < count; i += 2) {
        /* Box and Muller, 1958: two uniforms give two normals. */
        double radius = sqrt(-2 * log(1 - rng_uniform(&rng)));
        double angle = 2 * M_PI * rng_uniform(&rng);

        weights.data[i] = (real)(deviation * radius * cos(angle));
        if (i + 1 < count)
            weights.data[i + 1] = (real)(deviation * radius * sin(angle));
    }
}

real *real_array(size_t count, struct err *err)
{
    size_t bytes = (count * sizeof(real) + PARAMS_ALIGN_BYTES - 1) /
                   PARAMS_ALIGN_BYTES * PARAMS_ALIGN_BYTES;
    real *array = NULL;

    if (count <= MAX_ELEMENTS)
        array = aligned_alloc(PARAMS_ALIGN_BYTES, bytes);
    if (array == NULL) {
        err_set(err, ERR_FAILED,
                "the model needs %zu MiB in one piece, which "
                "is too much",
                bytes >> 20);
        return NULL;
    }
    memset(array, 0, bytes);
    return array;
}
