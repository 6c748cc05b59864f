/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/models/cma.h"
#include "strategies/models/learning_rate.h"

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Rates after 1, 2, 5, 20, 60 and 200 steps of two numbers, as the
 * paper's equations give them in double precision, written in Python. */
static void test_learning_rate__follows_the_papers_equations(void **state)
{
    static const size_t at[] = {1, 2, 5, 20, 60, 200};
    static const double expected[] = {0.9082454645532947,  0.8388026634047194,
                                      0.665405707779489,   0.3290959724636255,
                                      0.14121803982800812, 0.29630063869115547};
    struct learning_rate rate;
    size_t k = 0;

    (void)state;
    learning_rate_init(&rate, 2, 0.1);
    for (size_t t = 1; t <= 200; t++) {
        double step[] = {t <= 60 ? 0.3 : 1, 2 * cos(2 * (double)t)};

        learning_rate_tell(&rate, step);
        if (t == at[k])
            assert_near(rate.eta, expected[k++], 1e-12);
    }
    learning_rate_clear(&rate);
}

/* A diagonal's steps are those of the matrix that it is. */
static void test_learning_rate__goes_on_with_matrices(void **state)
{
    struct learning_rate narrow, wide;

    (void)state;
    learning_rate_init(&narrow, 3, 0.03);
    learning_rate_init(&wide, 3, 0.03);
    for (size_t t = 0; t < 40; t++) {
        double step[9] = {0};

        if (t == 20)
            learning_rate_widen(&wide);
        for (size_t i = 0; i < 3; i++)
            step[i] = sin((double)(t * (i + 1)));
        learning_rate_tell(&narrow, step);
        for (size_t i = 2; t >= 20 && i > 0; i--) {
            step[4 * i] = step[i];
            step[i] = 0;
        }
        learning_rate_tell(&wide, step);
        assert_near(wide.eta, narrow.eta, 1e-12);
    }
    learning_rate_clear(&narrow);
    learning_rate_clear(&wide);
}

enum { D = 5, POPULATION = 8 };

static double squared(const double *x)
{
    double sum = 0;

    for (size_t k = 0; k < D; k++)
        sum += x[k] * x[k];
    return sum;
}

/* The best first, by values. */
static void rank(double (*points)[D], double *values)
{
    for (size_t i = 1; i < POPULATION; i++)
        for (size_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
            double value = values[j];

            values[j] = values[j - 1];
            values[j - 1] = value;
            for (size_t k = 0; k < D; k++) {
                double x = points[j][k];

                points[j][k] = points[j - 1][k];
                points[j - 1][k] = x;
            }
        }
}

/* Where the mean is after so many updates by a sphere with noise: its squared
 * distance from the best point, the geometric mean over the last half; and the
 * rate then. */
static double distance_after(uint64_t updates, double noise, bool adapts,
                             double *learning_rate)
{
    static const double start[D] = {1, 1, 1, 1, 1};
    const struct cma_options options = {.dimension = D,
                                        .population = POPULATION,
                                        .diagonal_updates = 20,
                                        .adapts_rates = adapts};
    static const size_t ties[POPULATION] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct cma *cma = cma_create(&options, start, 0.5);
    double sum = 0;
    struct rng rng;

    rng_init(&rng, 7, 1, 0);
    for (uint64_t t = 0; t < updates; t++) {
        double points[POPULATION][D], values[POPULATION];

        for (size_t i = 0; i < POPULATION; i++) {
            double radius = sqrt(-2 * log1p(-rng_uniform(&rng)));

            cma_draw(cma, &rng, 1, points[i]);
            values[i] = squared(points[i]) +
                        noise * radius * cos(2 * M_PI * rng_uniform(&rng));
        }
        rank(points, values);
        cma_update(cma, points[0], ties);
        if (2 * t >= updates)
            sum += log(squared(cma_mean(cma)));
    }
    assert_true(!adapts || !cma_is_degenerate(cma));
    *learning_rate = cma_learning_rate(cma);
    cma_destroy(cma);
    return exp(2 * sum / (double)updates);
}

static void test_cma__adapted_rates_get_closer_under_noise(void **state)
{
    double rate, plain = distance_after(3000, 1, false, &rate);

    (void)state;
    assert_true(rate == 1);
    assert_true(distance_after(3000, 1, true, &rate) < plain / 10);
    assert_true(rate < 0.02);
}

static void test_cma__adapted_rates_are_large_without_noise(void **state)
{
    double rate;

    (void)state;
    assert_true(distance_after(400, 0, true, &rate) < 1e-6);
    assert_true(rate > 0.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learning_rate__follows_the_papers_equations),
        cmocka_unit_test(test_learning_rate__goes_on_with_matrices),
        cmocka_unit_test(test_cma__adapted_rates_get_closer_under_noise),
        cmocka_unit_test(test_cma__adapted_rates_are_large_without_noise),
    };

    return cmocka_run_group_tests_name("learning_rate", tests, NULL, NULL);
}
