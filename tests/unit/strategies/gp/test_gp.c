/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/gp/acquisition.h"
#include "strategies/gp/fit.h"
#include "strategies/gp/gp.h"
#include "strategies/gp/lbfgs.h"
#include "strategies/gp/trust_region.h"
#include "strategies/gp/warp.h"

/* Gaussian processes and what is built on them, against plain arithmetic. */

enum { ROWS = 70, WIDTH = 4, PENDING = 3 };

static const struct gp_column columns[WIDTH] = {
    {.parameter = 0},
    {.parameter = 1},
    {.parameter = 1},
    {.parameter = 2, .is_choice = true}};
static const struct gp_shape shape = {WIDTH, 3, columns};
static const double log_signal = 0.3; /* of the variance far from all data */

static struct linalg *linalg;

static int open_linalg(void **state)
{
    (void)state;
    linalg = linalg_open(NULL);
    return linalg != NULL ? 0 : -1;
}

static int close_linalg(void **state)
{
    (void)state;
    linalg_close(linalg);
    return 0;
}

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * (1 + fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Rows of three numbers and a choice of three; what a value depends on is the
 * first and the choice. */
static void fill_rows(double *rows, double *values, size_t count)
{
    struct rng rng;

    rng_init(&rng, 3, 1, 0);
    for (size_t i = 0; i < count; i++) {
        double *row = rows + i * WIDTH;

        for (size_t c = 0; c + 1 < WIDTH; c++)
            row[c] = rng_uniform(&rng);
        row[WIDTH - 1] = (double)rng_below(&rng, 3);
        values[i] = sin(5 * row[0]) + 0.5 * row[WIDTH - 1];
    }
}

static struct gp *make_gp(bool appends, double *rows, double *values)
{
    double log_lengths[] = {-1, 0.5, 0.2};
    struct gp_hyper hyper = {log_lengths, log_signal, -6};
    struct gp *gp = gp_create(linalg, &shape, ROWS + PENDING);

    fill_rows(rows, values, ROWS);
    gp_reset(gp, &hyper);
    gp_load(gp, rows, appends ? ROWS / 2 : ROWS);
    for (size_t i = ROWS / 2; appends && i < ROWS; i++)
        gp_append(gp, rows + i * WIDTH);
    gp_set_values(gp, values, ROWS);
    return gp;
}

static double predict_mean(const struct gp *gp, const struct gp_query *query,
                           size_t point)
{
    double mean = gp_mean(gp);

    for (size_t i = 0; i < query->rows; i++)
        mean += query->solved[point * query->rows + i] * gp_weights(gp)[i];
    return mean;
}

static void test_gp__inverse_and_factor_agree(void **state)
{
    double matrix[ROWS * ROWS], factor[ROWS * ROWS], inverse[ROWS * ROWS];
    double rows[ROWS * WIDTH], values[ROWS];

    (void)state;
    fill_rows(rows, values, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            matrix[i * ROWS + j] =
                exp(-fabs(rows[i * WIDTH] - rows[j * WIDTH])) +
                (i == j ? 0.1 : 0);
    memcpy(factor, matrix, sizeof(matrix));
    assert_true(linalg_factor(linalg, factor, ROWS, ROWS));
    linalg_invert(linalg, factor, ROWS, ROWS, inverse);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            double sum = 0, own = 0;

            for (size_t k = 0; k < ROWS; k++)
                sum += matrix[i * ROWS + k] *
                       inverse[(k > j ? k : j) * ROWS + (k > j ? j : k)];
            for (size_t k = 0; k <= (i < j ? i : j); k++)
                own += factor[i * ROWS + k] * factor[j * ROWS + k];
            assert_near(sum, i == j ? 1 : 0, 1e-9);
            assert_near(own, matrix[i * ROWS + j], 1e-12);
        }
    matrix[0] = -1;
    assert_false(linalg_factor(linalg, matrix, ROWS, ROWS));
}

static void test_gp__appending_equals_loading(void **state)
{
    double rows[ROWS * WIDTH], values[ROWS];
    struct gp *whole = make_gp(false, rows, values);
    struct gp *grown = make_gp(true, rows, values);
    struct gp_query a = {0}, b = {0};

    (void)state;
    for (size_t i = 0; i < WIDTH * 8; i++)
        rows[i] = i % WIDTH == 3 ? 1 : 0.07 * (double)(i % 13);
    gp_predict(whole, rows, 8, &a);
    gp_predict(grown, rows, 8, &b);
    for (size_t p = 0; p < 8; p++) {
        assert_near(predict_mean(whole, &a, p), predict_mean(grown, &b, p),
                    1e-9);
        assert_near(a.variance[p], b.variance[p], 1e-9);
        assert_true(a.variance[p] > 0 && a.variance[p] < exp(log_signal));
    }
    gp_query_clear(&a);
    gp_query_clear(&b);
    gp_destroy(whole);
    gp_destroy(grown);
}

static void test_gp__goes_through_its_data(void **state)
{
    double rows[ROWS * WIDTH], values[ROWS], means[ROWS];
    struct gp *gp = make_gp(false, rows, values);
    struct gp_query query = {0};

    (void)state;
    gp_predict(gp, rows, ROWS, &query);
    gp_means_at_rows(gp, gp_weights(gp), 1, means);
    for (size_t i = 0; i < ROWS; i++) {
        assert_near(predict_mean(gp, &query, i), values[i], 0.05);
        assert_near(predict_mean(gp, &query, i), means[i], 1e-9);
    }
    gp_query_clear(&query);
    gp_destroy(gp);
}

/* The same point many times, and points that differ in the choice alone. */
static void test_gp__bears_repeated_points(void **state)
{
    double log_lengths[] = {3, 3, 3};
    struct gp_hyper hyper = {log_lengths, 0, -16};
    struct gp *gp = gp_create(linalg, &shape, ROWS);
    double rows[ROWS * WIDTH] = {0}, values[ROWS] = {0};
    struct gp_query query = {0};

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        rows[i * WIDTH + 3] = (double)(i % 3);
    gp_reset(gp, &hyper);
    gp_load(gp, rows, ROWS);
    assert_int_equal(gp_count(gp), ROWS);
    values[5] = 1;
    gp_set_values(gp, values, ROWS);
    gp_predict(gp, rows, ROWS, &query);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(isfinite(predict_mean(gp, &query, i)));
        assert_true(query.variance[i] > 0);
    }
    gp_query_clear(&query);
    gp_destroy(gp);
}

static void test_gp__fit_finds_what_matters_and_the_noise(void **state)
{
    double rows[ROWS * WIDTH], values[ROWS], log_lengths[3];
    struct gp_data data = {&shape, ROWS, rows, values};
    struct gp_hyper hyper = {.log_lengths = log_lengths};
    struct rng rng;

    (void)state;
    fill_rows(rows, values, ROWS);
    gp_fit(linalg, &data, &hyper, NULL);
    assert_true(log_lengths[0] < 0.5);
    assert_true(log_lengths[1] > log_lengths[0] + 1);
    assert_true(hyper.log_noise < -6);
    rng_init(&rng, 4, 1, 0);
    for (size_t i = 0; i < ROWS; i++)
        values[i] += 1.2 * (rng_uniform(&rng) - 0.5); /* variance 0.12 */
    gp_fit(linalg, &data, &hyper, NULL);
    assert_true(hyper.log_noise > log(0.04) && hyper.log_noise < log(0.3));
}

static void test_gp__fit_bears_equal_values(void **state)
{
    double rows[ROWS * WIDTH], values[ROWS], log_lengths[3];
    struct gp_data data = {&shape, ROWS, rows, values};
    struct gp_hyper hyper = {.log_lengths = log_lengths};
    struct warp warp = {0};

    (void)state;
    fill_rows(rows, values, ROWS);
    memset(values, 0, sizeof(values));
    gp_fit(linalg, &data, &hyper, &warp);
    assert_true(isfinite(log_lengths[0]) && isfinite(hyper.log_noise));
    assert_true(warp.strength > 0 && warp.deviation > 0);
    data.count = 1;
    gp_fit(linalg, &data, &hyper, &warp);
    assert_true(isfinite(log_lengths[0]) && isfinite(hyper.log_noise));
}

static void test_warp__keeps_the_order_and_comes_back(void **state)
{
    double values[] = {-1e300, -5, 1e-300, 0, 3, 7, 1e5, 1e300};
    double plain[] = {1, 2, 4, 8, 9, 11, 90};
    struct warp warp = {.strength = 3, .mean = 0.5, .deviation = 1.4};

    (void)state;
    warp_locate(&warp, values, ARRAY_LEN(values));
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_true(fabs(warp_apply(&warp, values[i])) < 10);
    assert_true(warp_apply(&warp, -1e300) < warp_apply(&warp, 0));
    assert_true(warp_apply(&warp, 0) < warp_apply(&warp, 1e300));
    warp_locate(&warp, plain, ARRAY_LEN(plain));
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        double z = warp_apply(&warp, plain[i]);

        assert_near(warp_undo(&warp, z), plain[i], 1e-12);
        assert_near((warp_undo(&warp, z + 1e-6) - warp_undo(&warp, z - 1e-6)) /
                        2e-6,
                    warp_slope(&warp, z), 1e-6);
        assert_true(i == 0 || z > warp_apply(&warp, plain[i - 1]));
    }
    memset(plain, 0, sizeof(plain));
    warp_locate(&warp, plain, ARRAY_LEN(plain));
    assert_true(isfinite(warp_apply(&warp, 0)));
}

static void test_acquisition__log_improvement_is_right_everywhere(void **state)
{
    double cdf, pdf, before = -(double)INFINITY;

    (void)state;
    for (double z = -6; z <= 6; z += 0.125) {
        double density = exp(-z * z / 2) / sqrt(2 * M_PI);
        double below = 0.5 * erfc(-z * M_SQRT1_2);
        double direct = density + z * below;

        assert_near(acquisition_log_improvement(z, &cdf, &pdf), log(direct),
                    1e-6);
        assert_near(cdf, below / direct, 1e-5);
        assert_near(pdf, density / direct, 1e-5);
    }
    /* far out: -z^2/2 - log sqrt(2 pi) - 2 log |z| */
    for (double z = -1e3; z > -1e6; z *= 10)
        assert_near(acquisition_log_improvement(z, &cdf, &pdf) + z * z / 2,
                    -0.9189385332 - 2 * log(-z), 1e-4);
    for (double z = -60; z < 10; z += 0.01) {
        double value = acquisition_log_improvement(z, &cdf, &pdf);
        double above = acquisition_log_improvement(z + 1e-5, &cdf, &pdf);

        acquisition_log_improvement(z, &cdf, &pdf);
        assert_true(value > before);
        assert_near((above - value) / 1e-5, cdf, 1e-3);
        before = value;
    }
}

static void test_acquisition__log_probability_is_right_everywhere(void **state)
{
    double slope, unused;

    (void)state;
    for (double z = -200; z < 8; z += 0.37) {
        double value = acquisition_log_probability(z, &slope);

        if (z > -8)
            assert_near(exp(value), 0.5 * erfc(-z * M_SQRT1_2), 1e-9);
        assert_near((acquisition_log_probability(z + 1e-5, &unused) - value) /
                        1e-5,
                    slope, 1e-3);
    }
}

/* By central differences at so many points, `step` from number to number; and
 * values are the same without gradients. */
static void assert_gradients(const struct acquisition *acquisition,
                             size_t count, double step)
{
    enum { MOST = 5 };
    double points[MOST * WIDTH], value[MOST], up[MOST], down[MOST],
        gradients[MOST * WIDTH];
    struct acquisition_room room = {0};

    assert_in_range(count, 1, MOST);
    for (size_t i = 0; i < count * WIDTH; i++)
        points[i] = i % WIDTH == 3 ? 1 : 0.05 + step * (double)i;
    acquisition_evaluate(acquisition, &room, points, count, value, gradients);
    for (size_t i = 0; i < count * WIDTH; i++) {
        double at = points[i];

        if (i % WIDTH == 3)
            continue;
        points[i] = at + 1e-5;
        acquisition_evaluate(acquisition, &room, points, count, up, NULL);
        points[i] = at - 1e-5;
        acquisition_evaluate(acquisition, &room, points, count, down, NULL);
        points[i] = at;
        assert_near((up[i / WIDTH] - down[i / WIDTH]) / 2e-5, gradients[i],
                    1e-4);
    }
    acquisition_evaluate(acquisition, &room, points, count, up, NULL);
    assert_memory_equal(value, up, count * sizeof(*value));
    acquisition_room_clear(&room);
}

/* With fantasies and a limit. */
static void test_acquisition__gradients_are_those_of_its_values(void **state)
{
    enum { N = ROWS + PENDING };
    double rows[ROWS * WIDTH], values[ROWS], weights[2 * N] = {0};
    double pending[WIDTH] = {0.3, 0.4, 0.5, 1}, targets[] = {-0.8, -0.9};
    struct gp *gp = make_gp(false, rows, values);
    struct gp *limit = make_gp(true, rows, values);
    struct acquisition_limit limits[] = {{limit, 0.2}};
    struct acquisition acquisition = {.linalg = linalg,
                                      .objective = gp,
                                      .fantasy_count = 2,
                                      .weights = weights,
                                      .targets = targets,
                                      .limits = limits,
                                      .limit_count = 1};

    (void)state;
    for (size_t i = 0; i < PENDING; i++) {
        gp_append(gp, pending);
        pending[0] += 0.2;
    }
    for (size_t f = 0; f < 2; f++) {
        memcpy(weights + f * N, gp_weights(gp), ROWS * sizeof(*weights));
        for (size_t i = ROWS; i < N; i++)
            weights[f * N + i] = f == 0 ? 0.7 : -1.1;
    }
    assert_gradients(&acquisition, 5, 0.043);
    gp_destroy(gp);
    gp_destroy(limit);
}

/* Two goals with two fantasies, each with its front. */
static void test_acquisition__goals_gradients_are_those_of_values(void **state)
{
    enum { N = ROWS + 1 };
    static const double fronts[2][4] = {{-0.5, 0.9, 0.2, 0.1},
                                        {-0.6, 0.5, 0.4, 0.2}};
    static const double reference[] = {1.5, 1.4};
    double rows[ROWS * WIDTH], values[ROWS], weights[2][2 * N] = {0};
    double pending[WIDTH] = {0.3, 0.4, 0.5, 1};
    struct gp *processes[2];
    struct acquisition_goal goals[2];
    struct boxes regions[2];
    struct acquisition acquisition = {.linalg = linalg,
                                      .fantasy_count = 2,
                                      .goals = goals,
                                      .goal_count = 2,
                                      .regions = regions};

    (void)state;
    for (size_t j = 0; j < 2; j++) {
        struct gp *gp = make_gp(false, rows, values);

        for (size_t i = 0; i < ROWS && j == 1; i++)
            values[i] = cos(3 * rows[i * WIDTH + 1]);
        gp_set_values(gp, values, ROWS);
        gp_append(gp, pending);
        for (size_t f = 0; f < 2; f++) {
            memcpy(weights[j] + f * N, gp_weights(gp), ROWS * sizeof(double));
            weights[j][f * N + ROWS] = f == 0 ? 0.7 : -1.1;
        }
        processes[j] = gp;
        goals[j] = (struct acquisition_goal){.gp = gp, .weights = weights[j]};
        boxes_split(&regions[j], fronts[j], 2, 2, reference);
    }
    assert_gradients(&acquisition, 3, 0.083);
    for (size_t j = 0; j < 2; j++) {
        gp_destroy(processes[j]);
        boxes_clear(&regions[j]);
    }
}

static double rosenbrock(const double *x, double *gradient)
{
    double a = 1 - x[0], b = x[1] - x[0] * x[0];

    gradient[0] = -2 * a - 400 * b * x[0];
    gradient[1] = 200 * b;
    return a * a + 100 * b * b;
}

static void descend(double upper, double *x)
{
    const double low[] = {-2, -2}, high[] = {upper, 2}, start[] = {-1.2, 1};
    const struct lbfgs_options options = {
        .evaluations = 200, .gradient = 1e-8, .first_step = 0.5};
    struct lbfgs *lbfgs = lbfgs_create(2, low, high, start, &options);
    double gradient[2], value;
    const double *at;

    while ((at = lbfgs_next(lbfgs)) != NULL) {
        assert_true(at[0] >= low[0] && at[0] <= high[0]);
        value = rosenbrock(at, gradient);
        lbfgs_tell(lbfgs, at[0] < -1.4 ? (double)INFINITY : value, gradient);
    }
    memcpy(x, lbfgs_best(lbfgs, &value), 2 * sizeof(*x));
    lbfgs_destroy(lbfgs);
}

static void test_lbfgs__finds_the_minimum_in_the_box(void **state)
{
    double x[2];

    (void)state;
    descend(2, x);
    assert_near(x[0], 1, 1e-5);
    assert_near(x[1], 1, 1e-5);
    descend(0.5, x); /* the minimum is outside: x = 0.5, y = x^2 */
    assert_near(x[0], 0.5, 1e-9);
    assert_near(x[1], 0.25, 1e-5);
}

static void test_trust_region__follows_success_and_failure(void **state)
{
    const double centre[] = {0.5, 0.9}, log_lengths[] = {0, 1};
    struct trust_region region;
    double low[2], high[2];

    (void)state;
    trust_region_init(&region, 2);
    for (int i = 0; i < 3; i++)
        trust_region_tell(&region, -i);
    assert_true(region.length == 1.6);
    for (int i = 0; i < 4 * 4; i++)
        trust_region_tell(&region, i % 2 == 0 ? 5 : (double)INFINITY);
    assert_true(region.length == 0.1);
    trust_region_box(&region, centre, log_lengths, low, high);
    assert_near(low[0], 0.5 - 0.05 * exp(-0.5), 1e-12);
    assert_near(low[1], 0.9 - 0.05 * exp(0.5), 1e-12);
    assert_near(high[0], 0.5 + 0.05 * exp(-0.5), 1e-12);
    assert_near(high[1], 0.9 + 0.05 * exp(0.5), 1e-12);
    for (int i = 0; i < 4 * 4; i++)
        trust_region_tell(&region, 5);
    assert_true(region.length == 0.8); /* again from the start */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gp__inverse_and_factor_agree),
        cmocka_unit_test(test_gp__appending_equals_loading),
        cmocka_unit_test(test_gp__goes_through_its_data),
        cmocka_unit_test(test_gp__bears_repeated_points),
        cmocka_unit_test(test_gp__fit_finds_what_matters_and_the_noise),
        cmocka_unit_test(test_gp__fit_bears_equal_values),
        cmocka_unit_test(test_warp__keeps_the_order_and_comes_back),
        cmocka_unit_test(test_acquisition__log_improvement_is_right_everywhere),
        cmocka_unit_test(test_acquisition__log_probability_is_right_everywhere),
        cmocka_unit_test(test_acquisition__gradients_are_those_of_its_values),
        cmocka_unit_test(test_acquisition__goals_gradients_are_those_of_values),
        cmocka_unit_test(test_lbfgs__finds_the_minimum_in_the_box),
        cmocka_unit_test(test_trust_region__follows_success_and_failure),
    };

    return cmocka_run_group_tests_name("gp", tests, open_linalg, close_linalg);
}
