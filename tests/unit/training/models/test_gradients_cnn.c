/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked with the trainer's arithmetic in double precision. */
#define SMTRAIN_DOUBLE
#include "tests/unit/training/models/gradients.h"

#include "base/compiler.h"
#include "training/models/cnn.h"

struct conv {
    struct matrix x, w, bias, y, weights;
    struct conv_space space;
};

static double conv_value(void *context)
{
    struct conv *conv = context;

    ops_cpu.conv(conv->x, conv->w, conv->bias, &conv->space, conv->y);
    return dot(conv->y, conv->weights);
}

/* Three images, of which the patches of `lines` are made at a time. */
static void check_conv(struct grid grid, size_t lines)
{
    enum { IN = 2, OUT = 3, PATCH = CONV_SIDE * CONV_SIDE * IN };
    size_t pixels = 3 * grid.height * grid.width;
    struct conv conv;
    struct function function = {conv_value, &conv};
    struct matrix dx, dw, dbias;
    struct rng rng;

    rng_init(&rng, 6, 0, 0);
    conv = (struct conv){matrix_of(pixels, IN, &rng),
                         matrix_of(OUT, PATCH, &rng),
                         matrix_of(1, OUT, &rng),
                         matrix_of(pixels, OUT, &rng),
                         matrix_of(pixels, OUT, &rng),
                         {grid, matrix_of(lines * grid.width, PATCH, &rng)}};
    dx = matrix_of(pixels, IN, &rng);
    dw = matrix_of(OUT, PATCH, &rng);
    dbias = matrix_of(1, OUT, &rng);
    ops_cpu.conv_grad_params(conv.x, conv.weights, &conv.space, dw, dbias);
    ops_cpu.conv_grad_input(conv.weights, conv.w, &conv.space, dx);
    check(function, conv.x, dx);
    check(function, conv.w, dw);
    check(function, conv.bias, dbias);
    free(conv.x.data);
    free(conv.w.data);
    free(conv.bias.data);
    free(conv.y.data);
    free(conv.weights.data);
    free(conv.space.patches.data);
    free(dx.data);
    free(dw.data);
    free(dbias.data);
}

static void test_gradients_cnn__of_a_convolution(void **state)
{
    (void)state;
    check_conv((struct grid){4, 3}, 5);
    check_conv((struct grid){4, 3}, 1);
    check_conv((struct grid){1, 1}, 2);
    check_conv((struct grid){2, 5}, 6);
}

struct pool {
    struct matrix x, y, weights;
    struct grid grid;
};

static double pool_value(void *context)
{
    struct pool *pool = context;

    ops_cpu.pool(pool->x, pool->grid, pool->y);
    return dot(pool->y, pool->weights);
}

static void test_gradients_cnn__of_max_pooling(void **state)
{
    enum { IMAGES = 2, CHANNELS = 3 };
    static const struct grid grids[] = {{2, 2}, {4, 6}, {5, 4}, {2, 7}, {3, 3}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(grids); i++) {
        struct grid grid = grids[i];
        size_t pixels = IMAGES * grid.height * grid.width;
        size_t pooled = IMAGES * (grid.height / 2) * (grid.width / 2);
        struct pool pool;
        struct matrix dx;
        struct rng rng;

        rng_init(&rng, 8, 0, 0);
        pool = (struct pool){matrix_of(pixels, CHANNELS, &rng),
                             matrix_of(pooled, CHANNELS, &rng),
                             matrix_of(pooled, CHANNELS, &rng), grid};
        dx = copy_of(pool.x);
        ops_cpu.pool_grad(pool.weights, grid, dx);
        check((struct function){pool_value, &pool}, pool.x, dx);
        free(pool.x.data);
        free(pool.y.data);
        free(pool.weights.data);
        free(dx.data);
    }
}

static void test_gradients_cnn__of_the_model(void **state)
{
    enum { ROWS = 5, CLASSES = 4, MAX_SIDE = 9 };
    static const struct {
        size_t side;
        struct cnn_options options;
    } cases[] = {
        {4, {.channels = 3, .depth = 1, .width = 5}},
        {6, {.channels = 2, .depth = 2, .width = 6, .dropout = 0.3}},
        {9, {.channels = 2, .depth = 3, .width = 4}},
    };
    static const uint16_t targets[ROWS] = {0, 3, 1, 3, 2};
    uint8_t pixels[ROWS * MAX_SIDE * MAX_SIDE];
    struct rng rng;

    (void)state;
    rng_init(&rng, 9, 0, 0);
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)rng_below(&rng, 256);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct model_shape shape = {.inputs =
                                              cases[i].side * cases[i].side,
                                          .targets = 1,
                                          .classes = CLASSES,
                                          .max_samples = ROWS + 2,
                                          .seed = 7};

        check_model(&model_cnn, &shape, &cases[i].options, pixels, targets,
                    ROWS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_cnn__of_a_convolution),
        cmocka_unit_test(test_gradients_cnn__of_max_pooling),
        cmocka_unit_test(test_gradients_cnn__of_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
