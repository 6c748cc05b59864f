/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_TRAINING_MODELS_GRADIENTS_H
#define SMTUNE_TESTS_UNIT_TRAINING_MODELS_GRADIENTS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "training/models/model.h"

/* For tests that are linked with the trainer's arithmetic in double precision:
 * gradients against central differences. */

static const double LIMIT = 1e-6;

/* A function of some numbers, to compare its gradient with its differences. */
struct function {
    double (*value)(void *context);
    void *context;
};

static inline struct matrix matrix_of(size_t rows, size_t columns,
                                      struct rng *rng)
{
    struct matrix matrix = {real_array(rows * columns, NULL), rows, columns};

    assert_non_null(matrix.data);
    for (size_t i = 0; i < rows * columns; i++)
        matrix.data[i] = 2 * rng_uniform(rng) - 1;
    return matrix;
}

static inline struct matrix copy_of(struct matrix from)
{
    struct matrix copy = {real_array(from.rows * from.columns, NULL), from.rows,
                          from.columns};

    assert_non_null(copy.data);
    memcpy(copy.data, from.data, from.rows * from.columns * sizeof(real));
    return copy;
}

static inline double dot(struct matrix a, struct matrix b)
{
    double sum = 0;

    for (size_t i = 0; i < a.rows * a.columns; i++)
        sum += a.data[i] * b.data[i];
    return sum;
}

/* The central differences along all of x, against `gradient`. */
static inline void check(struct function function, struct matrix x,
                         struct matrix gradient)
{
    const double step = 1e-5;
    double off = 0, size = 0;

    assert_int_equal(gradient.rows * gradient.columns, x.rows * x.columns);
    for (size_t i = 0; i < x.rows * x.columns; i++) {
        double saved = x.data[i], above, difference;

        x.data[i] = saved + step;
        above = function.value(function.context);
        x.data[i] = saved - step;
        difference = (above - function.value(function.context)) / (2 * step);
        x.data[i] = saved;
        off += pow(gradient.data[i] - difference, 2);
        size += pow(gradient.data[i], 2) + pow(difference, 2);
    }
    assert_true(size > 1e-6);
    if (sqrt(off / size) >= LIMIT)
        fail_msg("relative error %g", sqrt(off / size));
}

struct whole {
    struct model *model;
    struct batch batch;
};

static inline double whole_value(void *context)
{
    struct whole *whole = context;
    struct totals totals = {0};

    assert_int_equal(model_train(whole->model, &whole->batch, &totals, NULL),
                     0);
    return totals.loss * whole->batch.scale;
}

/* On so many samples' inputs and targets. */
static inline void check_model(const struct model_kind *kind,
                               const struct model_shape *shape,
                               const void *options, const void *inputs,
                               const uint16_t *targets, size_t samples)
{
    const uint64_t step = 9;
    struct whole whole = {
        model_plan(kind, &backend_cpu, shape, options, NULL),
        {inputs, targets, samples, .step = &step, .first = 3, .scale = 0.3}};
    struct params *params;
    struct rng rng;

    assert_non_null(whole.model);
    assert_int_equal(model_allocate(whole.model, NULL), 0);
    rng_init(&rng, 5, 0, 0);
    params = &whole.model->params;
    params->grads = real_array(params->count, NULL);
    assert_non_null(params->grads);
    /* Biases of 0 would put a unit without inputs on the kink of ReLU. */
    for (size_t i = 0; i < params->count; i++)
        params->values[i] += 0.2 * rng_uniform(&rng) - 0.1;
    for (size_t i = 0; i < params->tensor_count; i++) {
        struct matrix gradient;

        whole_value(&whole);
        gradient = copy_of(params_grad(params, (int)i));
        check((struct function){whole_value, &whole},
              params_value(params, (int)i), gradient);
        free(gradient.data);
    }
    free(params->grads);
    model_release(whole.model);
}

#endif
