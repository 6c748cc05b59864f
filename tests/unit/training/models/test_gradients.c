/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked with the trainer's arithmetic in double precision. */
#define SMTRAIN_DOUBLE
#include "tests/unit/training/models/gradients.h"

#include "base/compiler.h"
#include "training/models/mlp.h"

enum { ROWS = 5, INPUTS = 12, OUTPUTS = 4 };

/* The functions below weigh an operation's outputs with fixed numbers. */
struct linear {
    struct matrix x, w, bias, y, weights;
};

static double linear_value(void *context)
{
    struct linear *linear = context;

    ops_cpu.linear(linear->x, linear->w, linear->bias, linear->y);
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
    ops_cpu.linear_grads(&(struct linear_pass){.x = linear.x,
                                               .w = linear.w,
                                               .dy = linear.weights,
                                               .dw = dw,
                                               .dbias = dbias,
                                               .dx = dx});
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
    const uint64_t step = 0;
    const struct noise noise = {.seed = 2, .step = &step};

    memcpy(relu->y.data, relu->x.data,
           relu->x.rows * relu->x.columns * sizeof(real));
    ops_cpu.relu(relu->y);
    if (relu->rate > 0)
        ops_cpu.dropout(relu->y, relu->rate, &noise);
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
        ops_cpu.relu_dropout_grad(relu.y, relu.rate, dx);
        check((struct function){relu_value, &relu}, relu.x, dx);
        free(relu.x.data);
        free(relu.y.data);
        free(relu.weights.data);
        free(dx.data);
    }
}

static const uint16_t targets[ROWS] = {0, 3, 1, 3, 2};

static double softmax_value(void *context)
{
    const struct matrix *logits = context;
    struct matrix copy = copy_of(*logits);
    struct totals totals = {0};

    ops_cpu.softmax_loss(copy, targets, &totals);
    free(copy.data);
    return totals.loss / 7;
}

static void test_gradients__of_softmax_and_cross_entropy(void **state)
{
    struct rng rng;
    struct matrix logits, gradient;
    struct totals totals = {0};

    (void)state;
    rng_init(&rng, 4, 0, 0);
    logits = matrix_of(ROWS, OUTPUTS, &rng);
    gradient = copy_of(logits);
    ops_cpu.softmax_loss_grad(gradient, targets, 1.0 / 7, &totals);
    check((struct function){softmax_value, &logits}, logits, gradient);
    free(logits.data);
    free(gradient.data);
}

static void test_gradients__of_mlp(void **state)
{
    static const struct mlp_options options[] = {
        {.width = 7, .depth = 0},
        {.width = 7, .depth = 1},
        {.width = 6, .depth = 3},
        {.width = 30, .depth = 2, .dropout = 0.5},
    };
    const struct model_shape shape = {.inputs = INPUTS,
                                      .targets = 1,
                                      .classes = OUTPUTS,
                                      .max_samples = ROWS + 2,
                                      .seed = 7};
    uint8_t pixels[ROWS * INPUTS];
    struct rng rng;

    (void)state;
    rng_init(&rng, 5, 0, 0);
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)rng_below(&rng, 256);
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        check_model(&model_mlp, &shape, &options[i], pixels, targets, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients__of_a_linear_layer),
        cmocka_unit_test(test_gradients__of_relu_and_dropout),
        cmocka_unit_test(test_gradients__of_softmax_and_cross_entropy),
        cmocka_unit_test(test_gradients__of_mlp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
