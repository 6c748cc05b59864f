/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/variance_tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

enum { ROWS = 200, DIMENSION = 3, TREES = 20 };

/* a: 4 bins with order; b: 3 without; c: 2, active where a is in its upper
 * half. */
static const uint8_t bin_counts[DIMENSION] = {4, 3, 2};
static const bool is_unordered[DIMENSION] = {false, true, false};

struct fixture {
    uint8_t bins[ROWS][DIMENSION];
    double values[ROWS], noise[ROWS];
    size_t rows[ROWS];
};

static void fixture_init(struct fixture *fixture)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct rng rng;

        rng_init(&rng, 1, i, 0);
        fixture->rows[i] = i;
        for (size_t d = 0; d < DIMENSION; d++)
            fixture->bins[i][d] = (uint8_t)(rng_uniform(&rng) * bin_counts[d]);
        if (fixture->bins[i][0] < 2)
            fixture->bins[i][2] = VARIANCE_INACTIVE;
        fixture->noise[i] = rng_uniform(&rng) - 0.5;
    }
}

/* Means over trees, each on the rows in an order of its own. */
static void explain(struct fixture *fixture, double *explained)
{
    const struct variance_table table = {
        .dimension = DIMENSION,
        .bins = &fixture->bins[0][0],
        .bin_counts = bin_counts,
        .is_unordered = is_unordered,
        .values = fixture->values,
    };

    for (size_t d = 0; d < DIMENSION; d++)
        explained[d] = 0.0;
    for (uint64_t t = 0; t < TREES; t++) {
        struct rng rng;

        rng_init(&rng, 2, t, 0);
        for (size_t i = ROWS; i > 1; i--) {
            size_t k = (size_t)(rng_uniform(&rng) * (double)i);
            size_t row = fixture->rows[k];

            fixture->rows[k] = fixture->rows[i - 1];
            fixture->rows[i - 1] = row;
        }
        variance_tree_add(&table, fixture->rows, ROWS, &rng, explained);
    }
    for (size_t d = 0; d < DIMENSION; d++)
        explained[d] /= TREES;
}

static void test_variance_tree__finds_the_variance_of_steps(void **state)
{
    struct fixture fixture;
    double explained[DIMENSION];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < ROWS; i++)
        fixture.values[i] = fixture.bins[i][0];
    explain(&fixture, explained);
    assert_true(fabs(explained[0] - 1.25) < 0.05); /* of 0, 1, 2, 3 */
    assert_true(fabs(explained[1]) < 0.02);
    assert_true(fabs(explained[2]) < 0.02);
}

/* The middle one of three differs: no split in their order finds it at once. */
static void test_variance_tree__takes_any_bins_without_order(void **state)
{
    struct fixture fixture;
    double explained[DIMENSION];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < ROWS; i++)
        fixture.values[i] = fixture.bins[i][1] == 1 ? 3.0 : 0.0;
    explain(&fixture, explained);
    assert_true(fabs(explained[1] - 2.0) < 1e-9);
}

static void test_variance_tree__counts_where_it_is_active(void **state)
{
    struct fixture fixture;
    double explained[DIMENSION];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < ROWS; i++)
        fixture.values[i] = fixture.bins[i][2] == VARIANCE_INACTIVE ? 1.0
                            : fixture.bins[i][2] == 0               ? 0.0
                                                                    : 2.0;
    explain(&fixture, explained);
    assert_true(fabs(explained[2] - 0.5) < 0.1); /* a variance of 1, in half */
    assert_true(fabs(explained[0]) < 0.05);
}

static void test_variance_tree__takes_noise_off(void **state)
{
    struct fixture fixture;
    double explained[DIMENSION];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < ROWS; i++)
        fixture.values[i] = fixture.noise[i];
    explain(&fixture, explained);
    for (size_t d = 0; d < DIMENSION; d++) /* the noise itself has 1/12 */
        assert_true(fabs(explained[d]) < 0.004);
}

static void test_variance_tree__takes_few_rows(void **state)
{
    struct fixture fixture;
    const struct variance_table table = {
        .dimension = DIMENSION,
        .bins = &fixture.bins[0][0],
        .bin_counts = bin_counts,
        .is_unordered = is_unordered,
        .values = fixture.values,
    };
    double explained[DIMENSION] = {0.0};
    struct rng rng;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < ROWS; i++)
        fixture.values[i] = (double)i;
    for (size_t count = 0; count < 12; count++) {
        rng_init(&rng, 3, count, 0);
        variance_tree_add(&table, fixture.rows, count, &rng, explained);
        for (size_t d = 0; d < DIMENSION; d++)
            assert_true(isfinite(explained[d]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variance_tree__finds_the_variance_of_steps),
        cmocka_unit_test(test_variance_tree__takes_any_bins_without_order),
        cmocka_unit_test(test_variance_tree__counts_where_it_is_active),
        cmocka_unit_test(test_variance_tree__takes_noise_off),
        cmocka_unit_test(test_variance_tree__takes_few_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
