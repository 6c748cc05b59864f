/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-5 * (1 + fabs(expected))))
        fail_msg("%.9g is not near %.9g", value, expected);
}

static void test_ops__normalize_scales_bytes(void **state)
{
    static const uint8_t bytes[] = {255, 51, 0, 0, 0, 0};
    real values[6];

    (void)state;
    ops_cpu.normalize(bytes, (struct matrix){values, 2, 3});
    assert_near((double)values[0], (1 - 0.2860) / 0.3530);
    assert_near((double)values[1], (0.2 - 0.2860) / 0.3530);
    for (int i = 2; i < 6; i++)
        assert_near((double)values[i], -0.2860 / 0.3530);
}

static void test_ops__linear_multiplies_and_adds(void **state)
{
    real x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 0, 2, -1, 3, 1}, y[4];
    real bias[] = {10, 20};
    static const double expected[] = {17, 28, 26, 37};

    (void)state;
    ops_cpu.linear((struct matrix){x, 2, 3}, (struct matrix){w, 2, 3},
                   (struct matrix){bias, 1, 2}, (struct matrix){y, 2, 2});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_near((double)y[i], expected[i]);
}

static void test_ops__relu_keeps_nan(void **state)
{
    real x[] = {-1, 0, 2, (real)NAN};

    (void)state;
    ops_cpu.relu((struct matrix){x, 2, 2});
    assert_near((double)x[0], 0);
    assert_near((double)x[1], 0);
    assert_near((double)x[2], 2);
    assert_true(isnan(x[3]));
}

static void test_ops__dropout_keeps_the_mean(void **state)
{
    enum { COUNT = 100000 };
    real *x = malloc(COUNT * sizeof(*x));
    size_t dropped = 0;
    double sum = 0;
    const uint64_t step = 2;
    const struct noise noise = {.seed = 1, .step = &step, .stream = 3};

    (void)state;
    assert_non_null(x);
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    ops_cpu.dropout((struct matrix){x, 100, COUNT / 100}, 0.2, &noise);
    for (int i = 0; i < COUNT; i++) {
        dropped += x[i] <= 0;
        sum += (double)x[i];
    }
    /* Five standard deviations of a binomial. */
    assert_true(fabs((double)dropped / COUNT - 0.2) < 0.0064);
    assert_true(fabs(sum / COUNT - 1) < 0.008);
    free(x);
}

static void test_ops__dropout_of_a_part_is_that_of_the_whole(void **state)
{
    enum { ROWS = 6, COLUMNS = 5, FIRST = 3 };
    const uint64_t step = 2;
    struct noise noise = {.seed = 1, .step = &step, .stream = 3};
    real whole[ROWS * COLUMNS], part[(ROWS - FIRST) * COLUMNS];

    (void)state;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        whole[i] = 1;
    for (size_t i = 0; i < ARRAY_LEN(part); i++)
        part[i] = 1;
    ops_cpu.dropout((struct matrix){whole, ROWS, COLUMNS}, 0.5, &noise);
    noise.first_row = FIRST;
    ops_cpu.dropout((struct matrix){part, ROWS - FIRST, COLUMNS}, 0.5, &noise);
    assert_memory_equal(part, whole + FIRST * COLUMNS, sizeof(part));
}

static void test_ops__conv_weighs_the_pixels_around(void **state)
{
    real x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    real bias[] = {10}, y[6], patches[3 * 9];
    const struct conv_space space = {{2, 3}, {patches, 3, 9}};
    static const double expected[] = {104, 164, 116, 68, 101, 68};

    (void)state;
    ops_cpu.conv((struct matrix){x, 6, 1}, (struct matrix){w, 1, 9},
                 (struct matrix){bias, 1, 1}, &space, (struct matrix){y, 6, 1});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_near((double)y[i], expected[i]);
}

static void fill(real *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (real)(i * 7 % 11) - 5;
}

/* Nor does an image see another one. */
static void test_ops__conv_takes_any_room_for_patches(void **state)
{
    enum { IMAGES = 3, HEIGHT = 4, WIDTH = 2, IN = 3, OUT = 2 };
    enum { PIXELS = IMAGES * HEIGHT * WIDTH, LINES = IMAGES * HEIGHT };
    real x[PIXELS * IN], w[OUT * 9 * IN], bias[OUT] = {1, 2};
    real all[PIXELS * OUT], y[PIXELS * OUT], patches[PIXELS * 9 * IN];
    struct conv_space space = {{HEIGHT, WIDTH}, {patches, PIXELS, 9 * IN}};
    struct matrix input = {x, PIXELS, IN}, weights = {w, OUT, 9 * IN};
    const size_t image = PIXELS / IMAGES;

    (void)state;
    fill(x, ARRAY_LEN(x));
    fill(w, ARRAY_LEN(w));
    for (size_t i = 0; i < IMAGES; i++)
        ops_cpu.conv((struct matrix){x + i * image * IN, image, IN}, weights,
                     (struct matrix){bias, 1, OUT}, &space,
                     (struct matrix){all + i * image * OUT, image, OUT});
    for (size_t lines = 1; lines <= LINES; lines++) {
        space.patches.rows = lines * WIDTH;
        memset(y, 0, sizeof(y));
        ops_cpu.conv(input, weights, (struct matrix){bias, 1, OUT}, &space,
                     (struct matrix){y, PIXELS, OUT});
        for (size_t i = 0; i < ARRAY_LEN(y); i++)
            assert_near((double)y[i], (double)all[i]);
    }
}

static void test_ops__pool_takes_the_largest_of_four(void **state)
{
    /* Two images of 3 x 5 pixels. */
    real x[] = {1, 2, 3, 4,  100, 5, 6, 9,  8,  100, 100, 100, 100, 100, 100,
                0, 0, 0, -1, 100, 0, 1, -3, -2, 100, 100, 100, 100, 100, 100};
    real y[4];
    static const double expected[] = {6, 9, 1, 0};

    (void)state;
    ops_cpu.pool((struct matrix){x, 30, 1}, (struct grid){3, 5},
                 (struct matrix){y, 4, 1});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_near((double)y[i], expected[i]);
}

static void test_ops__pool_keeps_nan(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        real x[] = {1, 2, 3, 4}, y[1];

        x[i] = (real)NAN;
        ops_cpu.pool((struct matrix){x, 4, 1}, (struct grid){2, 2},
                     (struct matrix){y, 1, 1});
        assert_true(isnan(y[0]));
    }
}

static void test_ops__pool_grad_goes_to_the_first_of_the_largest(void **state)
{
    real x[] = {2, 3, 9, 1, 3, 9, 9, 9, 9};
    real dy[] = {5};
    static const double expected[] = {0, 5, 0, 0, 0, 0, 0, 0, 0};

    (void)state;
    ops_cpu.pool_grad((struct matrix){dy, 1, 1}, (struct grid){3, 3},
                      (struct matrix){x, 9, 1});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_near((double)x[i], expected[i]);
}

static void test_ops__softmax_gives_loss_errors_and_probabilities(void **state)
{
    /* The second row would overflow if it were not shifted. */
    real x[] = {0, (real)log(3), 0, 1000, 0, 0};
    static const uint16_t targets[] = {1, 1};
    struct totals totals = {.loss = 2, .errors = 3};

    (void)state;
    ops_cpu.softmax_loss((struct matrix){x, 2, 3}, targets, &totals);
    assert_near(totals.loss, 2 + log(5.0 / 3) + 1000);
    assert_int_equal(totals.errors, 4);
    assert_near((double)x[0], 0.2);
    assert_near((double)x[1], 0.6);
    assert_near((double)x[3], 1);
    assert_near((double)x[4], 0);
}

static double loss_with(real odd, int at)
{
    static const uint16_t targets[] = {0};
    struct totals totals = {0};
    real x[] = {1, 2, 3};

    x[at] = odd;
    ops_cpu.softmax_loss((struct matrix){x, 1, 3}, targets, &totals);
    return totals.loss;
}

static void test_ops__softmax_shows_what_is_not_finite(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(isnan(loss_with((real)NAN, i)));
        assert_false(isfinite(loss_with((real)INFINITY, i)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops__normalize_scales_bytes),
        cmocka_unit_test(test_ops__linear_multiplies_and_adds),
        cmocka_unit_test(test_ops__relu_keeps_nan),
        cmocka_unit_test(test_ops__dropout_keeps_the_mean),
        cmocka_unit_test(test_ops__dropout_of_a_part_is_that_of_the_whole),
        cmocka_unit_test(test_ops__conv_weighs_the_pixels_around),
        cmocka_unit_test(test_ops__conv_takes_any_room_for_patches),
        cmocka_unit_test(test_ops__pool_takes_the_largest_of_four),
        cmocka_unit_test(test_ops__pool_keeps_nan),
        cmocka_unit_test(test_ops__pool_grad_goes_to_the_first_of_the_largest),
        cmocka_unit_test(test_ops__softmax_gives_loss_errors_and_probabilities),
        cmocka_unit_test(test_ops__softmax_shows_what_is_not_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
