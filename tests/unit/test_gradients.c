/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked with the trainer's arithmetic in double precision. */
#define SMTRAIN_DOUBLE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "training/mlp.h"
#include "training/ops.h"

enum { ROWS = 5, INPUTS = 12, OUTPUTS = 4 };

static const double LIMIT = 1e-6;

/* A function of some numbers, to compare its gradient with its differences. */
struct function {
    double (*value)(void *context);
    void *context;
};

static struct matrix matrix_of(size_t rows, size_t columns, struct rng *rng)
{
    struct matrix matrix = {real_array(rows * columns, NULL), rows, columns};

    assert_non_null(matrix.data);
    for (size_t i = 0; i < rows * columns; i++)
        matrix.data[i] = 2 * rng_uniform(rng) - 1;
    return matrix;
}

static struct matrix copy_of(struct matrix from)
{
    struct matrix copy = {real_array(from.rows * from.columns, NULL), from.rows,
                          from.columns};

    assert_non_null(copy.data);
    memcpy(copy.data, from.data, from.rows * from.columns * sizeof(real));
    return copy;
}

static double dot(struct matrix a, struct matrix b)
{
    double sum = 0;

    for (size_t i = 0; i < a.rows * a.columns; i++)
        sum += a.data[i] * b.data[i];
    return sum;
}

/* The central differences along all of x, against `gradient`. */
static void check(struct function function, struct matrix x,
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

/* The functions below weigh an operation's outputs with fixed numbers. */
struct linear {
    struct matrix x, w, bias, y, weights;
};

static double linear_value(void *context)
{
    struct linear *linear = context;

    op_linear(linear->x, linear->w, linear->bias, linear->y);
    return dot(linear->y, linear->weights);
}

static void test_gradients__of_a_linear_layer(void **state)
{
    struct rng rng;
    struct linear linear;
    struct function function = {linear_value, &linear};
    struct matrix dx, dw, dbias;

    (void)state;
    rng_init(&rng, 1, 0, 0);
    linear = (struct linear){
        matrix_of(ROWS, INPUTS, &rng), matrix_of(OUTPUTS, INPUTS, &rng),
        matrix_of(1, OUTPUTS, &rng), matrix_of(ROWS, OUTPUTS, &rng),
        matrix_of(ROWS, OUTPUTS, &rng)};
    /* What was there before must not count. */
    dx = matrix_of(ROWS, INPUTS, &rng);
    dw = matrix_of(OUTPUTS, INPUTS, &rng);
    dbias = matrix_of(1, OUTPUTS, &rng);
    op_linear_grad_params(linear.x, linear.weights, dw, dbias);
    op_linear_grad_input(linear.weights, linear.w, dx);
    check(function, linear.x, dx);
    check(function, linear.w, dw);
    check(function, linear.bias, dbias);
    free(linear.x.data);
    free(linear.w.data);
    free(linear.bias.data);
    free(linear.y.data);
    free(linear.weights.data);
    free(dx.data);
    free(dw.data);
    free(dbias.data);
}

struct relu {
    struct matrix x, y, weights;
    double rate;
};

static double relu_value(void *context)
{
    struct relu *relu = context;
    struct rng rng;

    rng_init(&rng, 2, 0, 0);
    memcpy(relu->y.data, relu->x.data,
           relu->x.rows * relu->x.columns * sizeof(real));
    op_relu(relu->y);
    if (relu->rate > 0)
        op_dropout(relu->y, relu->rate, &rng);
    return dot(relu->y, relu->weights);
}

static void test_gradients__of_relu_and_dropout(void **state)
{
    static const double rates[] = {0, 0.4};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        struct rng rng;
        struct relu relu;
        struct matrix dx;

        rng_init(&rng, 3, 0, 0);
        relu = (struct relu){matrix_of(ROWS, INPUTS, &rng),
                             matrix_of(ROWS, INPUTS, &rng),
                             matrix_of(ROWS, INPUTS, &rng), rates[i]};
        relu_value(&relu);
        dx = copy_of(relu.weights);
        op_relu_dropout_grad(relu.y, relu.rate, dx);
        check((struct function){relu_value, &relu}, relu.x, dx);
        free(relu.x.data);
        free(relu.y.data);
        free(relu.weights.data);
        free(dx.data);
    }
}

static const uint8_t labels[ROWS] = {0, 3, 1, 3, 2};

static double softmax_value(void *context)
{
    const struct matrix *logits = context;
    struct matrix copy = copy_of(*logits);
    size_t errors = 0;
    double loss = op_softmax_loss(copy, labels, &errors) / ROWS;

    free(copy.data);
    return loss;
}

static void test_gradients__of_softmax_and_cross_entropy(void **state)
{
    struct rng rng;
    struct matrix logits, gradient;
    size_t errors = 0;

    (void)state;
    rng_init(&rng, 4, 0, 0);
    logits = matrix_of(ROWS, OUTPUTS, &rng);
    gradient = copy_of(logits);
    op_softmax_loss(gradient, labels, &errors);
    op_softmax_loss_grad(gradient, labels);
    check((struct function){softmax_value, &logits}, logits, gradient);
    free(logits.data);
    free(gradient.data);
}

struct whole {
    struct model *model;
    struct batch batch;
};

static double whole_value(void *context)
{
    struct whole *whole = context;

    return whole->model->kind->train(whole->model, &whole->batch) / ROWS;
}

static void check_model(const struct mlp_options *options)
{
    const struct model_shape shape = {INPUTS, OUTPUTS, ROWS + 2, 7};
    static const uint32_t rows[ROWS] = {3, 0, 4, 4, 1};
    uint8_t images[ROWS * INPUTS];
    struct whole whole;
    struct params *params;
    struct rng rng;

    rng_init(&rng, 5, 0, 0);
    for (size_t i = 0; i < sizeof(images); i++)
        images[i] = (uint8_t)rng_below(&rng, 256);
    whole.model = model_mlp.create(&shape, options, NULL);
    whole.batch = (struct batch){images, rows, labels, ROWS, 9};
    assert_non_null(whole.model);
    params = &whole.model->params;
    assert_int_equal(params->tensor_count, 2 * (options->depth + 1));
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
    whole.model->kind->destroy(whole.model);
}

static void test_gradients__of_whole_models(void **state)
{
    static const struct mlp_options options[] = {
        {.width = 7, .depth = 0},
        {.width = 7, .depth = 1},
        {.width = 6, .depth = 3},
        {.width = 30, .depth = 2, .dropout = 0.5},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        check_model(&options[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients__of_a_linear_layer),
        cmocka_unit_test(test_gradients__of_relu_and_dropout),
        cmocka_unit_test(test_gradients__of_softmax_and_cross_entropy),
        cmocka_unit_test(test_gradients__of_whole_models),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
