/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "training/util/streams.h"

static const size_t MAX_ELEMENTS = (size_t)1 << 31;

static size_t padded(size_t elements, size_t bytes)
{
    size_t step = bytes / sizeof(real);

    return (elements + step - 1) / step * step;
}

int params_begin_unit(struct params *params)
{
    params->units = mem_grow(params->units, params->unit_count,
                             &params->unit_capacity, sizeof(*params->units));
    params->units[params->unit_count] = (struct unit){0};
    return (int)params->unit_count++;
}

int params_add(struct params *params, const char *name, size_t rows,
               size_t columns, struct err *err)
{
    struct tensor *tensor;
    struct unit *unit;
    size_t elements;

    if (__builtin_mul_overflow(rows, columns, &elements) ||
        elements > MAX_ELEMENTS - params->count)
        return err_set(err, ERR_USAGE,
                       "the model is too large: tensor '%s' of %zu x %zu", name,
                       rows, columns);
    params->learnt += elements;
    elements = padded(elements, REAL_ALIGN_BYTES);
    unit = &params->units[params->unit_count - 1];
    params->tensors = mem_grow(params->tensors, params->tensor_count,
                               &params->tensor_capacity, sizeof(*tensor));
    tensor = &params->tensors[params->tensor_count];
    memset(tensor, 0, sizeof(*tensor));
    memcpy(tensor->name, name, strnlen(name, TENSOR_NAME_MAX - 1));
    tensor->rows = rows;
    tensor->columns = columns;
    tensor->offset = unit->count;
    tensor->unit = (int)params->unit_count - 1;
    unit->count += elements;
    params->count += elements;
    return (int)params->tensor_count++;
}

void params_place(struct params *params)
{
    params->count = 0;
    for (size_t i = params->unit_count; i-- > 0;) {
        struct unit *unit = &params->units[i];

        unit->offset = params->count;
        unit->count = padded(unit->count, UNIT_ALIGN_BYTES);
        params->count += unit->count;
    }
    for (size_t i = 0; i < params->tensor_count; i++) {
        struct tensor *tensor = &params->tensors[i];

        tensor->offset += params->units[tensor->unit].offset;
    }
}

int params_allocate(struct params *params, const struct backend *backend,
                    struct err *err)
{
    params->backend = backend;
    params->values = backend_array(backend, params->count + params->spare, err);
    return params->values != NULL ? 0 : -1;
}

void params_clear(struct params *params)
{
    free(params->tensors);
    free(params->units);
    if (params->backend != NULL)
        params->backend->release(params->values);
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

void params_enter(const struct params *params, int unit, enum pass pass)
{
    if (params->hooks != NULL)
        params->hooks->enter(params->hooks->user, unit, pass);
}

void params_leave(const struct params *params, int unit, enum pass pass)
{
    if (params->hooks != NULL)
        params->hooks->leave(params->hooks->user, unit, pass);
}

void params_init_normal(struct params *params, int index, double deviation,
                        uint64_t seed)
{
    struct matrix weights = params_value(params, index);
    size_t count = weights.rows * weights.columns;
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

void params_init_he(struct params *params, int index, uint64_t seed)
{
    size_t inputs = params->tensors[index].columns;

    params_init_normal(params, index, sqrt(2.0 / (double)inputs), seed);
}

void params_init_constant(struct params *params, int index, double value)
{
    struct matrix tensor = params_value(params, index);

    for (size_t i = 0; i < tensor.rows * tensor.columns; i++)
        tensor.data[i] = (real)value;
}
