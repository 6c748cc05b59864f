/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "strategies/history/hypervolume.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

/* What bayesian promises beyond the properties of every method: it finds good
 * points in few trials, on spaces and in circumstances of every kind. */

enum { VALUES_MAX = 64, TRIALS_MAX = 100 };

/* A run: values of all trials, in the order asked. */
struct trials {
    struct value points[TRIALS_MAX][VALUES_MAX];
    struct suggestion suggestions[TRIALS_MAX];
    double values[TRIALS_MAX][2];
    double outcomes[TRIALS_MAX];
};

/* Sets values and maybe the outcome; false: the trial fails. */
typedef bool (*evaluation)(struct space *space, const struct value *point,
                           double *values, double *outcome);

static void run(struct space *space, struct strategy_options options,
                evaluation evaluate, struct trials *trials)
{
    struct strategy *strategy;
    size_t count = options.budget_trials;

    options.seed = 3;
    strategy = strategy_create(&options, space, NULL);
    assert_non_null(strategy);
    for (size_t i = 0; i < count; i++) {
        struct trial_result result = {.values = trials->values[i],
                                      .outcomes = &trials->outcomes[i]};
        struct err err = {0};

        if (strategy_ask(strategy, i + 1, trials->points[i],
                         &trials->suggestions[i], &err) != ASK_OK)
            fail_msg("trial %zu: %s", i + 1, err.text);
        if (!evaluate(space, trials->points[i], trials->values[i],
                      &trials->outcomes[i])) {
            result = (struct trial_result){.outcome = OUTCOME_FAILED};
            trials->values[i][0] = (double)INFINITY;
        }
        strategy_tell(strategy, i + 1, &result);
    }
    strategy_destroy(strategy);
}

static double least(const struct trials *trials, size_t count)
{
    double value = (double)INFINITY;

    for (size_t i = 0; i < count; i++)
        value = fmin(value, trials->values[i][0]);
    return value;
}

static double unit_of(struct space *space, const struct value *point, size_t i)
{
    return param_to_unit(space_param(space, i), &point[i]);
}

/* A bowl that is narrow along a diagonal; 0 at best. */
static bool bowl(struct space *space, const struct value *point, double *values,
                 double *outcome)
{
    double a = unit_of(space, point, 0) - 0.7;
    double b = unit_of(space, point, 1) - 0.2;
    double c = unit_of(space, point, 2) - 0.9;
    double d = unit_of(space, point, 3) - 0.4;

    (void)outcome;
    values[0] = 5 * (a + b) * (a + b) + (a - b) * (a - b) + c * c + 5 * d * d;
    return true;
}

static void test_bayesian__finds_the_bottom_of_a_bowl(void **state)
{
    struct space *space = spec_build(&specs[0], env);
    struct trials *trials = calloc(1, sizeof(*trials));

    (void)state;
    run(space,
        (struct strategy_options){.method = "random", .budget_trials = 40},
        bowl, trials);
    assert_true(least(trials, 40) > 0.05);
    run(space,
        (struct strategy_options){.method = "bayesian", .budget_trials = 40},
        bowl, trials);
    assert_true(least(trials, 40) < 0.01);
    free(trials);
    space_destroy(space);
}

/* As bowl, with a single value of 1e300 and all others large. */
static bool tall_bowl(struct space *space, const struct value *point,
                      double *values, double *outcome)
{
    bowl(space, point, values, outcome);
    values[0] = values[0] > 4 ? 1e300 : 1e12 * (values[0] + 7);
    return true;
}

static void test_bayesian__huge_values_do_no_harm(void **state)
{
    struct space *space = spec_build(&specs[0], env);
    struct trials *trials = calloc(1, sizeof(*trials));

    (void)state;
    run(space,
        (struct strategy_options){.method = "bayesian", .budget_trials = 40},
        tall_bowl, trials);
    assert_true(least(trials, 40) / 1e12 - 7 < 0.03);
    free(trials);
    space_destroy(space);
}

/* Categories, ints and a bool of "mixed": the best is adam, flag, deep. */
static bool mixed(struct space *space, const struct value *point,
                  double *values, double *outcome)
{
    double lr = unit_of(space, point, 0) - 0.6;
    double width = unit_of(space, point, 1) - 0.8;

    (void)outcome;
    values[0] = 3 * lr * lr + width * width +
                (strcmp(point[4].text, "adam") == 0 ? 0 : 0.5) +
                (point[6].boolean ? 0 : 0.3) +
                0.1 * (double)(8 - point[2].integer) / 2 + point[3].real;
    return true;
}

static void test_bayesian__searches_mixed_spaces(void **state)
{
    struct space *space = spec_build(&specs[1], env);
    struct trials *trials = calloc(1, sizeof(*trials));

    (void)state;
    run(space,
        (struct strategy_options){.method = "bayesian", .budget_trials = 40},
        mixed, trials);
    assert_true(least(trials, 40) < 0.01);
    free(trials);
    space_destroy(space);
}

/* "nested": the best is sgd with a momentum of 0.9, nesterov, gap 7. */
static bool nested(struct space *space, const struct value *point,
                   double *values, double *outcome)
{
    (void)outcome;
    values[0] = 1;
    if (point[2].type == VALUE_REAL)
        values[0] = 0.3 + fabs(point[2].real - 0.9);
    if (point[4].type == VALUE_INT)
        values[0] += 0.05 * fabs((double)point[4].integer - 7) - 0.3;
    (void)space;
    return true;
}

static void test_bayesian__searches_conditional_spaces(void **state)
{
    struct space *space = spec_build(&specs[2], env);
    struct trials *trials = calloc(1, sizeof(*trials));

    (void)state;
    run(space,
        (struct strategy_options){.method = "bayesian", .budget_trials = 40},
        nested, trials);
    assert_true(least(trials, 40) < 0.02);
    free(trials);
    space_destroy(space);
}

/* Fails in half of the space, not where the bowl is best. */
static bool failing(struct space *space, const struct value *point,
                    double *values, double *outcome)
{
    bowl(space, point, values, outcome);
    return unit_of(space, point, 0) > 0.5;
}

static size_t count_failures(const struct trials *trials, size_t from,
                             size_t to)
{
    size_t count = 0;

    for (size_t i = from; i < to; i++)
        count += isinf(trials->values[i][0]) != 0;
    return count;
}

static void test_bayesian__learns_where_trials_fail(void **state)
{
    struct space *space = spec_build(&specs[0], env);
    struct trials *trials = calloc(1, sizeof(*trials));

    (void)state;
    run(space,
        (struct strategy_options){.method = "bayesian", .budget_trials = 40},
        failing, trials);
    assert_true(count_failures(trials, 0, 10) >= 2);
    assert_true(count_failures(trials, 10, 40) <= 8);
    assert_true(least(trials, 40) < 0.01);
    free(trials);
    space_destroy(space);
}

/* At most 0 for a below 0.5, where the bowl is 0.138 at best. */
static bool limited(struct space *space, const struct value *point,
                    double *values, double *outcome)
{
    bowl(space, point, values, outcome);
    *outcome = 10 * (unit_of(space, point, 0) - 0.5);
    return true;
}

static void test_bayesian__keeps_to_constraints_on_outcomes(void **state)
{
    struct space *space = spec_build(&specs[0], env);
    struct trials *trials = calloc(1, sizeof(*trials));
    double best = (double)INFINITY;

    (void)state;
    run(space,
        (struct strategy_options){
            .method = "bayesian", .budget_trials = 40, .outcome_count = 1},
        limited, trials);
    for (size_t i = 0; i < 40; i++)
        if (trials->outcomes[i] <= 0)
            best = fmin(best, trials->values[i][0]);
    assert_true(best < 0.145);
    free(trials);
    space_destroy(space);
}

/* Two bowls apart: the front is between their bottoms. */
static bool two_bowls(struct space *space, const struct value *point,
                      double *values, double *outcome)
{
    double a = unit_of(space, point, 0), b = unit_of(space, point, 1);
    double c = unit_of(space, point, 2) - 0.6;

    (void)outcome;
    values[0] = (a - 0.2) * (a - 0.2) + (b - 0.3) * (b - 0.3) + c * c;
    values[1] = (a - 0.8) * (a - 0.8) + (b - 0.7) * (b - 0.7) + c * c;
    return true;
}

static double volume_of(const struct trials *trials, size_t count)
{
    const double reference[2] = {0.6, 0.6};

    return hypervolume(trials->values[0], count, 2, reference);
}

static void test_bayesian__covers_a_front(void **state)
{
    struct space *space = spec_build(&specs[0], env);
    struct trials *trials = calloc(1, sizeof(*trials));
    struct strategy_options options = {
        .method = "random", .budget_trials = 40, .objective_count = 2};
    double random_volume;

    (void)state;
    run(space, options, two_bowls, trials);
    random_volume = volume_of(trials, 40);
    options.method = "bayesian";
    run(space, options, two_bowls, trials);
    assert_true(volume_of(trials, 40) > 0.24); /* 0.26 is all there is */
    assert_true(volume_of(trials, 40) > random_volume + 0.02);
    free(trials);
    space_destroy(space);
}

enum { TURNED = 6 };

/* The same in six dimensions that are turned into each other, on scales that
 * have nothing in common. */
static bool turned_bowls(struct space *space, const struct value *point,
                         double *values, double *outcome)
{
    static const double shift[] = {0.3, 0.6, 0.45, 0.7, 0.35, 0.55};
    double z[TURNED], sums[2] = {0};

    (void)outcome;
    for (size_t i = 0; i < TURNED; i++)
        z[i] = unit_of(space, point, i) - shift[i];
    for (size_t i = 0; i + 1 < TURNED; i++) {
        double a = z[i];

        z[i] = 0.8 * a - 0.6 * z[i + 1];
        z[i + 1] = 0.6 * a + 0.8 * z[i + 1];
    }
    for (size_t i = 0; i < TURNED; i++) {
        double near = z[i] - 0.2, far = z[i] + (i % 2 == 0 ? 0.15 : -0.15);

        sums[0] += (double)(i + 1) * near * near;
        sums[1] += (double)(i + 1) * far * far;
    }
    values[0] = sums[0];
    values[1] = 1000 * sums[1] * sums[1];
    return true;
}

static void test_bayesian__covers_a_front_of_unlike_scales(void **state)
{
    static const double reference[2] = {1, 1000};
    struct space *space = space_create(env);
    struct trials *trials = calloc(1, sizeof(*trials));

    (void)state;
    for (int i = 0; i < TURNED; i++) {
        char name[16];
        struct param param = {.name = name, .max = 1};

        snprintf(name, sizeof(name), "x%d", i);
        assert_int_equal(space_add_param(space, &param, NULL), 0);
    }
    run(space,
        (struct strategy_options){
            .method = "bayesian", .budget_trials = 60, .objective_count = 2},
        turned_bowls, trials);
    assert_true(hypervolume(trials->values[0], 60, 2, reference) > 860);
    free(trials);
    space_destroy(space);
}

/* The least of `count` trials after 60 of an earlier run, whose values were
 * `sign` times the bowl's. */
static double least_after_earlier(struct space *space, double sign,
                                  size_t count)
{
    struct strategy_options options = {.method = "bayesian", .seed = 5};
    struct strategy_options plain = {.method = "sobol"};
    struct strategy *earlier = strategy_create(&plain, space, NULL);
    struct strategy *strategy = strategy_create(&options, space, NULL);
    double best = (double)INFINITY, value, unused;
    struct value point[4];

    for (uint64_t i = 1; i <= 60; i++) {
        assert_int_equal(strategy_ask(earlier, i, point, NULL, NULL), ASK_OK);
        bowl(space, point, &value, &unused);
        value = sign * (value - 1.5);
        strategy_add_earlier(strategy, point,
                             &(struct trial_result){.values = &value}, false);
    }
    for (uint64_t i = 1; i <= count; i++) {
        assert_int_equal(strategy_ask(strategy, i, point, NULL, NULL), ASK_OK);
        bowl(space, point, &value, &unused);
        best = fmin(best, value);
        strategy_tell(strategy, i, &(struct trial_result){.values = &value});
    }
    strategy_destroy(earlier);
    strategy_destroy(strategy);
    return best;
}

static void test_bayesian__earlier_runs_guide_but_do_not_bind(void **state)
{
    struct space *space = spec_build(&specs[0], env);

    (void)state;
    assert_true(least_after_earlier(space, 0.7, 8) < 0.04);
    assert_true(least_after_earlier(space, -0.7, 40) < 0.05);
    space_destroy(space);
}

static double distance(struct space *space, const struct value *a,
                       const struct value *b)
{
    double sum = 0;

    for (size_t i = 0; i < space_count(space); i++) {
        double step = unit_of(space, a, i) - unit_of(space, b, i);

        sum += step * step;
    }
    return sqrt(sum);
}

static void test_bayesian__many_at_once_stay_apart(void **state)
{
    enum { KNOWN = 20, PENDING = 40 };
    struct space *space = spec_build(&specs[0], env);
    struct strategy_options options = {.method = "bayesian", .seed = 1};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct value points[KNOWN + PENDING][4];
    double sum = 0;

    (void)state;
    for (size_t i = 0; i < KNOWN + PENDING; i++) {
        struct suggestion suggestion;
        double value, outcome;

        assert_int_equal(
            strategy_ask(strategy, i + 1, points[i], &suggestion, NULL),
            ASK_OK);
        if (i >= KNOWN) {
            double nearest = (double)INFINITY;

            for (size_t k = KNOWN; k < i; k++)
                nearest = fmin(nearest, distance(space, points[i], points[k]));
            if (i > KNOWN)
                sum += nearest / (PENDING - 1);
            continue;
        }
        bowl(space, points[i], &value, &outcome);
        strategy_tell(strategy, i + 1,
                      &(struct trial_result){.values = &value});
    }
    assert_true(sum > 0.05); /* to the nearest, on average */
    strategy_destroy(strategy);
    space_destroy(space);
}

static void test_bayesian__says_why(void **state)
{
    struct space *space = spec_build(&specs[0], env);
    struct trials *trials = calloc(1, sizeof(*trials));
    const struct reason *reason = &trials->suggestions[29].reason;
    double best;

    (void)state;
    run(space,
        (struct strategy_options){.method = "bayesian", .budget_trials = 30},
        bowl, trials);
    assert_string_equal(trials->suggestions[0].reason.step, "startup");
    best = least(trials, 29);
    assert_string_equal(reason->method, "bayesian");
    assert_non_null(strstr(reason->step, "log EI"));
    assert_true(isfinite(reason->acquisition));
    assert_true(reason->mean > -1 && reason->mean < 5);
    assert_true(reason->deviation > 0 && reason->deviation < 5);
    assert_true(trials->values[reason->incumbent - 1][0] <= best);
    free(trials);
    space_destroy(space);
}

/* So many that rows have to be chosen, in more dimensions than there is room
 * for surprises. */
static void test_bayesian__bears_many_trials_in_many_dimensions(void **state)
{
    enum { DIMENSIONS = 50, KNOWN = 1500 };
    struct space *space = space_create(env);
    struct strategy_options options = {.method = "bayesian"};
    struct value point[DIMENSIONS];
    struct strategy *strategy;

    (void)state;
    for (int i = 0; i < DIMENSIONS; i++) {
        char name[16];
        struct param param = {.name = name, .max = 1};

        snprintf(name, sizeof(name), "x%d", i);
        assert_int_equal(space_add_param(space, &param, NULL), 0);
    }
    strategy = strategy_create(&options, space, NULL);
    for (uint64_t i = 1; i <= KNOWN; i++) {
        double value = (double)((i * 7919) % 1000);

        for (uint64_t k = 0; k < DIMENSIONS; k++)
            point[k] = value_real((double)((i * 31 + k * k * 17) % 997) / 997);
        strategy_restore(strategy, i, point, 0);
        strategy_tell(strategy, i, &(struct trial_result){.values = &value});
    }
    assert_int_equal(strategy_ask(strategy, KNOWN + 1, point, NULL, NULL),
                     ASK_OK);
    strategy_destroy(strategy);
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bayesian__finds_the_bottom_of_a_bowl),
        cmocka_unit_test(test_bayesian__huge_values_do_no_harm),
        cmocka_unit_test(test_bayesian__searches_mixed_spaces),
        cmocka_unit_test(test_bayesian__searches_conditional_spaces),
        cmocka_unit_test(test_bayesian__learns_where_trials_fail),
        cmocka_unit_test(test_bayesian__keeps_to_constraints_on_outcomes),
        cmocka_unit_test(test_bayesian__covers_a_front),
        cmocka_unit_test(test_bayesian__covers_a_front_of_unlike_scales),
        cmocka_unit_test(test_bayesian__earlier_runs_guide_but_do_not_bind),
        cmocka_unit_test(test_bayesian__many_at_once_stay_apart),
        cmocka_unit_test(test_bayesian__says_why),
        cmocka_unit_test(test_bayesian__bears_many_trials_in_many_dimensions),
    };

    return cmocka_run_group_tests_name("bayesian", tests, open_env, close_env);
}
