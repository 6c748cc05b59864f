/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

/* How evenly sobol fills the cube, up to a hundred dimensions. */

enum { DIMENSIONS_MAX = 100 };

/* The first n points of a method in [0, 1]^d: [n][d], the caller's. */
static double *draw(const char *method, uint64_t seed, size_t d, size_t n)
{
    struct strategy_options options = {.method = method, .seed = seed};
    struct space *space = space_create(env);
    double *points = calloc(n * d, sizeof(*points));
    struct value point[DIMENSIONS_MAX];
    struct strategy *strategy;

    for (size_t i = 0; i < d; i++) {
        char name[24];
        struct param param = SPEC_FLOAT(name, 0, 1, LINEAR);

        snprintf(name, sizeof(name), "x%zu", i);
        assert_int_equal(space_add_param(space, &param, NULL), 0);
    }
    strategy = strategy_create(&options, space, NULL);
    for (size_t row = 0; row < n; row++) {
        assert_int_equal(strategy_ask(strategy, row + 1, point, NULL, NULL),
                         ASK_OK);
        for (size_t i = 0; i < d; i++)
            points[row * d + i] = point[i].real;
    }
    strategy_destroy(strategy);
    space_destroy(space);
    return points;
}

/* Of the 2^a x 2^b boxes of equal size in two dimensions, how many hold one
 * of the first 2^(a+b) points. */
static int boxes_hit(const double *points, size_t d, const size_t axes[2],
                     int a, int b)
{
    int n = 1 << (a + b), hit = 0;
    char *seen = calloc((size_t)n, 1);

    for (int row = 0; row < n; row++) {
        const double *point = &points[(size_t)row * d];
        int box = (int)(point[axes[0]] * (1 << a)) << b |
                  (int)(point[axes[1]] * (1 << b));

        hit += !seen[box];
        seen[box] = 1;
    }
    free(seen);
    return hit;
}

static void test_sobol__each_interval_is_hit_once(void **state)
{
    double *points = draw("sobol", 4, DIMENSIONS_MAX, 4096);

    (void)state;
    for (size_t i = 0; i < DIMENSIONS_MAX; i++)
        for (int k = 0; k <= 12; k++) {
            const size_t axes[2] = {i, i};

            assert_int_equal(boxes_hit(points, DIMENSIONS_MAX, axes, k, 0),
                             1 << k);
        }
    free(points);
}

/* The first two dimensions are a (0,2)-sequence: every shape of box. So are
 * the first two of each further block of 40. */
static void test_sobol__each_box_of_two_dimensions_is_hit_once(void **state)
{
    double *points = draw("sobol", 4, DIMENSIONS_MAX, 4096);

    (void)state;
    for (size_t block = 0; block < DIMENSIONS_MAX; block += 40)
        for (int a = 0; a <= 12; a++)
            for (int b = 0; a + b <= 12; b++) {
                const size_t axes[2] = {block, block + 1};

                assert_int_equal(boxes_hit(points, DIMENSIONS_MAX, axes, a, b),
                                 1 << (a + b));
            }
    free(points);
}

/* The same dimension of two blocks: as independent as random points, and not
 * one a function of the other. 256 boxes with 16 points each on average. */
static void test_sobol__blocks_are_not_tied_together(void **state)
{
    enum { N = 4096, SIDE = 16 };
    double *points = draw("sobol", 9, DIMENSIONS_MAX, N);

    (void)state;
    for (size_t i = 0; i < 20; i++) {
        int count[SIDE * SIDE] = {0};
        double chi2 = 0;

        for (size_t row = 0; row < N; row++) {
            const double *point = &points[row * DIMENSIONS_MAX];

            count[(int)(point[i] * SIDE) * SIDE +
                  (int)(point[i + 40] * SIDE)]++;
        }
        for (int box = 0; box < SIDE * SIDE; box++)
            chi2 += pow(count[box] - N / (SIDE * SIDE), 2) / 16;
        /* random points give 255 on average; a line gives over 4000 */
        assert_true(chi2 < 400);
    }
    free(points);
}

/* The L2 star discrepancy (T. Warnock, 1972). */
static double discrepancy(const double *x, size_t d, size_t n)
{
    double single = 0, pairs = 0;

    for (size_t i = 0; i < n; i++) {
        double product = 1;

        for (size_t k = 0; k < d; k++)
            product *= (1 - x[i * d + k] * x[i * d + k]) / 2;
        single += product;
        for (size_t j = 0; j < n; j++) {
            product = 1;
            for (size_t k = 0; k < d; k++)
                product *= 1 - fmax(x[i * d + k], x[j * d + k]);
            pairs += product;
        }
    }
    return sqrt(pow(3, -(double)d) - 2 * single / (double)n +
                pairs / (double)(n * n));
}

static void test_sobol__discrepancy_is_well_below_random(void **state)
{
    enum { SEEDS = 5, D = 4, N = 256 };
    double sobol = 0, random = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double *a = draw("sobol", seed, D, N), *b = draw("random", seed, D, N);

        sobol += discrepancy(a, D, N);
        random += discrepancy(b, D, N);
        free(a);
        free(b);
    }
    assert_true(sobol < 0.5 * random);
}

/* A scramble makes every point uniform over the seeds, the first too. */
static void test_sobol__every_point_is_uniform_over_the_seeds(void **state)
{
    enum { SEEDS = 2000, D = 3, N = 4, BINS = 10 };
    int count[N * D][BINS] = {{0}};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double *points = draw("sobol", seed, D, N);

        for (int i = 0; i < N * D; i++)
            count[i][(int)(points[i] * BINS)]++;
        free(points);
    }
    for (int i = 0; i < N * D; i++) {
        double chi2 = 0;

        for (int bin = 0; bin < BINS; bin++)
            chi2 += pow(count[i][bin] - SEEDS / BINS, 2) / (SEEDS / BINS);
        assert_true(chi2 < 33.7); /* 9 degrees of freedom, 99.99 % */
    }
}

/* Constants take no dimension: with them the points are the same. */
static void test_sobol__constants_cost_nothing(void **state)
{
    const struct param fixed = SPEC_WORDS("fixed", CONST, 1);
    const struct param x = SPEC_FLOAT("x", 0, 1, LINEAR);
    struct strategy_options options = {.method = "sobol", .seed = 6};
    struct space *space = space_create(env);
    double *plain = draw("sobol", 6, 1, 32);
    struct value point[2];
    struct strategy *strategy;

    (void)state;
    space_add_param(space, &fixed, NULL);
    space_add_param(space, &x, NULL);
    strategy = strategy_create(&options, space, NULL);
    for (uint64_t i = 0; i < 32; i++) {
        strategy_ask(strategy, i + 1, point, NULL, NULL);
        assert_true(point[1].real == plain[i]);
        assert_string_equal(point[0].text, "sgd");
    }
    strategy_destroy(strategy);
    space_destroy(space);
    free(plain);
}

/* A cursor far ahead, then one behind it: the sequence is found again. */
static void test_sobol__goes_to_any_place_of_the_sequence(void **state)
{
    enum { D = 45, N = 3000 };
    double *points = draw("sobol", 8, D, N);
    struct strategy_options options = {.method = "sobol", .seed = 8};
    static const uint64_t places[] = {2999, 0, 1, 1023, 1024, 1025, 2047, 5};
    struct space *space = space_create(env);
    struct value point[D] = {{0}};
    struct strategy *strategy;
    char name[24];

    (void)state;
    for (int i = 0; i < D; i++) {
        struct param param = SPEC_FLOAT(name, 0, 1, LINEAR);

        snprintf(name, sizeof(name), "x%d", i);
        space_add_param(space, &param, NULL);
    }
    strategy = strategy_create(&options, space, NULL);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct suggestion suggestion;

        strategy_restore(strategy, i + 1, point, places[i]);
        assert_int_equal(
            strategy_ask(strategy, i + 2, point, &suggestion, NULL), ASK_OK);
        assert_int_equal(suggestion.cursor, places[i] + 1);
        for (size_t k = 0; k < D; k++)
            assert_true(point[k].real == points[places[i] * D + k]);
    }
    strategy_destroy(strategy);
    space_destroy(space);
    free(points);
}

static void test_sobol__says_when_the_sequence_is_over(void **state)
{
    const struct param x = SPEC_FLOAT("x", 0, 1, LINEAR);
    struct strategy_options options = {.method = "sobol"};
    struct space *space = space_create(env);
    struct value point = value_real(0);
    struct strategy *strategy;
    struct err err = {0};

    (void)state;
    space_add_param(space, &x, NULL);
    strategy = strategy_create(&options, space, NULL);
    strategy_restore(strategy, 1, &point, UINT64_C(1) << 30);
    assert_int_equal(strategy_ask(strategy, 2, &point, NULL, &err), ASK_ERROR);
    assert_string_equal(err.text,
                        "the sobol sequence is used up after 2^30 points");
    strategy_destroy(strategy);
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sobol__each_interval_is_hit_once),
        cmocka_unit_test(test_sobol__each_box_of_two_dimensions_is_hit_once),
        cmocka_unit_test(test_sobol__blocks_are_not_tied_together),
        cmocka_unit_test(test_sobol__discrepancy_is_well_below_random),
        cmocka_unit_test(test_sobol__every_point_is_uniform_over_the_seeds),
        cmocka_unit_test(test_sobol__constants_cost_nothing),
        cmocka_unit_test(test_sobol__goes_to_any_place_of_the_sequence),
        cmocka_unit_test(test_sobol__says_when_the_sequence_is_over),
    };

    return cmocka_run_group_tests_name("sobol", tests, open_env, close_env);
}
