/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "training/util/fast_math.h"

static void assert_near(real value, double expected)
{
    if (!(fabs((double)value - expected) <= 1e-5 * (1 + fabs(expected))))
        fail_msg("%.9g is not near %.9g", (double)value, expected);
}

static void test_ops_gpt__fast_exp_is_near_enough(void **state)
{
    double worst = 0;

    (void)state;
    for (int i = -8700; i < 8800; i++) {
        double x = i / 100.0;
        double exact = exp((double)(real)x);
        double off = fabs((double)fast_exp((real)x) - exact) / exact;

        worst = off > worst ? off : worst;
    }
    assert_true(worst < 2e-7);
    assert_true(fast_exp(-1000) > 0 && fast_exp(-1000) < (real)1e-37);
    assert_true(isfinite(fast_exp(1000)) && fast_exp(1000) > (real)1e38);
    assert_true(isnan(fast_exp((real)NAN)));
}

static void test_ops_gpt__lanes_take_all_numbers(void **state)
{
    enum { COUNT = 2 * LANES + 3 };
    real x[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = (real)(i - 7);
    for (size_t count = 1; count <= COUNT; count++) {
        double sum = 0, squares = 0;

        for (size_t i = 0; i < count; i++) {
            sum += (double)x[i];
            squares += (double)(x[i] * x[i]);
        }
        assert_near(fast_sum(x, count), sum);
        assert_near(fast_dot(x, x, count), squares);
        assert_near(fast_max(x, count), (double)x[count - 1]);
    }
}

static void test_ops_gpt__gelu_is_that_of_gpt2(void **state)
{
    real x[] = {-3, -1, 0, 0.5F, 2, 100, -100, (real)NAN}, y[8];
    /* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), by hand. */
    static const double expected[] = {-0.00363739, -0.15880801, 0, 0.34571401,
                                      1.95459769,  100,         0};

    (void)state;
    ops_cpu.gelu((struct matrix){x, 2, 4}, (struct matrix){y, 2, 4});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_near(y[i], expected[i]);
    assert_true(isnan(y[7]));
}

static void test_ops_gpt__layernorm_adds_and_normalizes(void **state)
{
    real x[] = {1, 2, 3, 4}, delta[] = {1, 2, 3, 4};
    real gain[] = {1, 2}, bias[] = {0, 10}, sum[4], stats[4], y[4];
    const struct layernorm norm = {
        {gain, 1, 2}, {bias, 1, 2}, {sum, 2, 2}, {stats, 2, 2}};

    (void)state;
    ops_cpu.layernorm((struct matrix){x, 2, 2}, (struct matrix){delta, 2, 2},
                      &norm, (struct matrix){y, 2, 2});
    /* Rows 2 4 and 6 8: mean 3 and 7, deviation 1. */
    assert_near(sum[1], 4);
    assert_near(sum[2], 6);
    assert_near(stats[0], 3);
    assert_near(stats[2], 7);
    assert_near(y[0], -1);
    assert_near(y[1], 12);
    assert_near(y[2], -1);
    assert_near(y[3], 12);
}

static void test_ops_gpt__embedding_adds_token_and_place(void **state)
{
    static const uint16_t tokens[] = {1, 0, 1, 1};
    real table[] = {1, 2, 3, 4}, positions[] = {10, 20, 30, 40}, x[8];
    static const double expected[] = {13, 24, 31, 42, 13, 24, 33, 44};

    (void)state;
    ops_cpu.embedding(tokens, (struct matrix){table, 2, 2},
                      (struct matrix){positions, 2, 2},
                      (struct matrix){x, 4, 2});
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_near(x[i], expected[i]);
}

/* Keys of 0: a row sees the mean of the values up to its own. */
static void test_ops_gpt__attention_is_causal(void **state)
{
    enum { LENGTH = ATTENTION_BLOCK + 2, ROWS = 2 * LENGTH };
    static real qkv[ROWS * 3], y[ROWS], sums[ROWS];
    static real scratch[2 * ATTENTION_BLOCK * LENGTH];
    const struct attention how = {
        LENGTH, 1, {sums, ROWS, 1}, {scratch, 2 * ATTENTION_BLOCK, LENGTH}, 0};

    (void)state;
    for (int i = 0; i < ROWS; i++) {
        qkv[3 * i] = 5;
        qkv[3 * i + 2] = (real)(i % LENGTH);
    }
    ops_cpu.attention((struct matrix){qkv, ROWS, 3}, &how,
                      (struct matrix){y, ROWS, 1});
    for (int i = 0; i < ROWS; i++) {
        assert_near(y[i], i % LENGTH / 2.0);
        assert_near(sums[i], log(i % LENGTH + 1));
    }
}

static void test_ops_gpt__attention_weighs_by_products(void **state)
{
    /* One head of width 1: scores of the second row are 2 x 0 and 2 x log 3 /
     * 2, so that the weights are 1/4 and 3/4. */
    real qkv[] = {1, 0, 8, 2, (real)(log(3) / 2), 4}, y[2], sums[2];
    real scratch[2 * ATTENTION_BLOCK * 2];
    const struct attention how = {
        2, 1, {sums, 2, 1}, {scratch, 2 * ATTENTION_BLOCK, 2}, 0};

    (void)state;
    ops_cpu.attention((struct matrix){qkv, 2, 3}, &how,
                      (struct matrix){y, 2, 1});
    assert_near(y[0], 8);
    assert_near(y[1], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops_gpt__fast_exp_is_near_enough),
        cmocka_unit_test(test_ops_gpt__lanes_take_all_numbers),
        cmocka_unit_test(test_ops_gpt__gelu_is_that_of_gpt2),
        cmocka_unit_test(test_ops_gpt__layernorm_adds_and_normalizes),
        cmocka_unit_test(test_ops_gpt__embedding_adds_token_and_place),
        cmocka_unit_test(test_ops_gpt__attention_is_causal),
        cmocka_unit_test(test_ops_gpt__attention_weighs_by_products),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
