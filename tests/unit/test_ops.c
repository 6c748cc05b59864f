/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/compiler.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-5 * (1 + fabs(expected))))
        fail_msg("%.9g is not near %.9g", value, expected);
}

static void test_ops__normalize_picks_and_scales_rows(void **state)
{
    static const uint8_t images[] = {0, 0, 0, 255, 51, 0, 1, 2, 3};
    static const uint32_t rows[] = {1, 0};
    real values[6];

    (void)state;
    op_normalize(images, rows, (struct matrix){values, 2, 3});
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
    op_linear((struct matrix){x, 2, 3}, (struct matrix){w, 2, 3},
              (struct matrix){bias, 1, 2}, (struct matrix){y, 2, 2});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_near((double)y[i], expected[i]);
}

static void test_ops__relu_keeps_nan(void **state)
{
    real x[] = {-1, 0, 2, (real)NAN};

    (void)state;
    op_relu((struct matrix){x, 2, 2});
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
    struct rng rng;

    (void)state;
    assert_non_null(x);
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    rng_init(&rng, 1, 2, 3);
    op_dropout((struct matrix){x, 100, COUNT / 100}, 0.2, &rng);
    for (int i = 0; i < COUNT; i++) {
        dropped += x[i] <= 0;
        sum += (double)x[i];
    }
    /* Five standard deviations of a binomial. */
    assert_true(fabs((double)dropped / COUNT - 0.2) < 0.0064);
    assert_true(fabs(sum / COUNT - 1) < 0.008);
    free(x);
}

static void test_ops__softmax_gives_loss_errors_and_probabilities(void **state)
{
    /* The second row would overflow if it were not shifted. */
    real x[] = {0, (real)log(3), 0, 1000, 0, 0};
    static const uint8_t labels[] = {1, 1};
    size_t errors = 3;
    double loss = op_softmax_loss((struct matrix){x, 2, 3}, labels, &errors);

    (void)state;
    assert_near(loss, log(5.0 / 3) + 1000);
    assert_int_equal(errors, 4);
    assert_near((double)x[0], 0.2);
    assert_near((double)x[1], 0.6);
    assert_near((double)x[3], 1);
    assert_near((double)x[4], 0);
}

static void test_ops__softmax_shows_what_is_not_finite(void **state)
{
    static const uint8_t labels[] = {0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        real x[] = {1, 2, 3};
        size_t errors = 0;

        x[i] = (real)NAN;
        assert_true(
            isnan(op_softmax_loss((struct matrix){x, 1, 3}, labels, &errors)));
    }
    for (int i = 0; i < 3; i++) {
        real x[] = {1, 2, 3};
        size_t errors = 0;

        x[i] = (real)INFINITY;
        assert_false(isfinite(
            op_softmax_loss((struct matrix){x, 1, 3}, labels, &errors)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops__normalize_picks_and_scales_rows),
        cmocka_unit_test(test_ops__linear_multiplies_and_adds),
        cmocka_unit_test(test_ops__relu_keeps_nan),
        cmocka_unit_test(test_ops__dropout_keeps_the_mean),
        cmocka_unit_test(test_ops__softmax_gives_loss_errors_and_probabilities),
        cmocka_unit_test(test_ops__softmax_shows_what_is_not_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
