/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/history/history.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

enum { DIMENSION_MAX = 200, PARALLEL_MAX = 64 };

/* A function of coordinates whose optimum, 0, is at shift[]. */
struct problem {
    double (*value)(const double *z, size_t d);
    size_t d;
    bool is_turned;
    double shift[DIMENSION_MAX];
    double axes[20][20]; /* orthogonal */
};

static double ellipsoid(const double *z, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < d; i++)
        sum += pow(1e4, (double)i / (double)(d - 1)) * z[i] * z[i];
    return sum;
}

static double rosenbrock(const double *z, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < d; i++) {
        double a = 1 + 4 * z[i], b = 1 + 4 * z[i + 1];

        sum += 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
    }
    return sum;
}

static double rastrigin(const double *z, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < d; i++)
        sum += 1 + 100 * z[i] * z[i] - cos(20 * M_PI * z[i]);
    return sum;
}

static double flat(const double *z, size_t d)
{
    (void)z;
    (void)d;
    return 1;
}

/* Random axes, made orthogonal by Gram and Schmidt's way. */
static void turn(struct problem *problem, struct rng *rng)
{
    size_t d = problem->d;

    for (size_t i = 0; i < d; i++) {
        double *axis = problem->axes[i], norm = 0;

        for (size_t k = 0; k < d; k++)
            axis[k] = rng_uniform(rng) + rng_uniform(rng) - 1;
        for (size_t j = 0; j < i; j++) {
            double dot = 0;

            for (size_t k = 0; k < d; k++)
                dot += axis[k] * problem->axes[j][k];
            for (size_t k = 0; k < d; k++)
                axis[k] -= dot * problem->axes[j][k];
        }
        for (size_t k = 0; k < d; k++)
            norm += axis[k] * axis[k];
        for (size_t k = 0; k < d; k++)
            axis[k] /= sqrt(norm);
    }
}

static struct problem make_problem(double (*value)(const double *, size_t),
                                   size_t d, bool is_turned, uint64_t seed)
{
    struct problem problem = {.value = value, .d = d, .is_turned = is_turned};
    struct rng rng;

    rng_init(&rng, seed, 1, 99);
    for (size_t i = 0; i < d; i++)
        problem.shift[i] = 0.15 + 0.7 * rng_uniform(&rng);
    if (is_turned)
        turn(&problem, &rng);
    return problem;
}

static double evaluate(const struct problem *problem, const double *unit)
{
    double z[DIMENSION_MAX] = {0};

    for (size_t i = 0; i < problem->d; i++)
        for (size_t k = problem->is_turned ? 0 : i;
             k < (problem->is_turned ? problem->d : i + 1); k++)
            z[i] += (problem->is_turned ? problem->axes[i][k] : 1) *
                    (unit[k] - problem->shift[k]);
    return problem->value(z, problem->d);
}

struct run {
    const char *method;
    struct space *space;
    uint64_t trials, seed;
    size_t parallel;
    bool adapts_rates;
    double (*value)(const struct run *run, const struct value *point);
    const struct problem *problem;
    char note[160]; /* of the last trial */
};

/* The best value of a run in which the oldest pending trial ends first. */
static double best_of(struct run *run)
{
    struct strategy_options options = {.method = run->method,
                                       .seed = run->seed,
                                       .budget_trials = run->trials,
                                       .parallel = run->parallel,
                                       .adapts_rates = run->adapts_rates};
    struct strategy *strategy = strategy_create(&options, run->space, NULL);
    double values[PARALLEL_MAX], best = (double)INFINITY;
    struct value point[DIMENSION_MAX];
    struct suggestion suggestion;

    for (uint64_t trial = 1; trial <= run->trials; trial++) {
        uint64_t told = trial - run->parallel + 1;
        double *slot = &values[trial % run->parallel];

        assert_int_equal(
            strategy_ask(strategy, trial, point, &suggestion, NULL), ASK_OK);
        *slot = run->value(run, point);
        best = fmin(best, *slot);
        if (trial >= run->parallel)
            strategy_tell(strategy, told,
                          &(struct trial_result){
                              .values = &values[told % run->parallel]});
    }
    memcpy(run->note, suggestion.reason.note, sizeof(run->note));
    strategy_destroy(strategy);
    return best;
}

static double problem_value(const struct run *run, const struct value *point)
{
    double unit[DIMENSION_MAX];

    for (size_t i = 0; i < run->problem->d; i++)
        unit[i] = param_to_unit(space_param(run->space, i), &point[i]);
    return evaluate(run->problem, unit);
}

static struct space *make_cube(size_t d)
{
    struct space *space = space_create(env);

    for (size_t i = 0; i < d; i++) {
        char name[24];
        struct param param = {.name = name, .kind = PARAM_FLOAT, .max = 1};

        snprintf(name, sizeof(name), "x%zu", i);
        assert_int_equal(space_add_param(space, &param, NULL), 0);
    }
    return space;
}

/* The logarithm to base 10, averaged over seeds. */
static double order_of(struct run run, double (*value)(const double *, size_t),
                       size_t d)
{
    enum { SEEDS = 3 };
    double sum = 0;

    run.value = problem_value;
    run.space = make_cube(d);
    for (run.seed = 1; run.seed <= SEEDS; run.seed++) {
        struct problem problem = make_problem(value, d, true, run.seed);

        run.problem = &problem;
        sum += log10(best_of(&run)) / SEEDS;
    }
    space_destroy(run.space);
    return sum;
}

static void test_cmaes__finds_what_random_misses_by_orders(void **state)
{
    struct run cmaes = {.method = "cmaes", .trials = 1500, .parallel = 1};
    struct run random = {.method = "random", .trials = 1500, .parallel = 1};

    (void)state;
    assert_true(order_of(cmaes, ellipsoid, 8) <
                order_of(random, ellipsoid, 8) - 3);
    assert_true(order_of(cmaes, rosenbrock, 5) <
                order_of(random, rosenbrock, 5) - 3);
}

static void test_cmaes__results_that_are_late_cost_little(void **state)
{
    struct run alone = {.method = "cmaes", .trials = 500, .parallel = 1};
    struct run eight = {.method = "cmaes", .trials = 500, .parallel = 8};
    struct run many = {.method = "cmaes", .trials = 500, .parallel = 64};
    struct run random = {.method = "random", .trials = 500, .parallel = 64};
    double least = order_of(random, ellipsoid, 6);
    double gain = least - order_of(alone, ellipsoid, 6);

    (void)state;
    assert_true(gain > 1);
    assert_true(least - order_of(eight, ellipsoid, 6) > 0.7 * gain);
    assert_true(least - order_of(many, ellipsoid, 6) > 0.2 * gain);
}

/* Ints of 12 values whose sum of squares has one best point, and what is
 * around it is worse in most directions. */
static double whole_value(const struct run *run, const struct value *point)
{
    double sum = 0, product = 1;

    (void)run;
    for (int i = 0; i < 6; i++) {
        double gap = value_number(&point[i]) - (i * 5 % 12);

        sum += (i + 1) * gap * gap;
        product *= fabs(gap) < 0.5 ? 1 : 0.9;
    }
    return sum - product + 1;
}

static void test_cmaes__integers_do_not_freeze(void **state)
{
    struct space *space = space_create(env);
    int hits = 0;

    (void)state;
    for (int i = 0; i < 6; i++) {
        char name[24];
        struct param param = {.name = name, .kind = PARAM_INT, .max = 11};

        snprintf(name, sizeof(name), "k%d", i);
        assert_int_equal(space_add_param(space, &param, NULL), 0);
    }
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct run run = {.method = "cmaes",
                          .space = space,
                          .trials = 600,
                          .parallel = 1,
                          .seed = seed,
                          .value = whole_value};

        hits += best_of(&run) <= 0;
    }
    assert_true(hits >= 4); /* of 3 million points */
    space_destroy(space);
}

static const struct value letters[] = {{.type = VALUE_TEXT, .text = "a"},
                                       {.type = VALUE_TEXT, .text = "b"},
                                       {.type = VALUE_TEXT, .text = "c"},
                                       {.type = VALUE_TEXT, .text = "d"}};

/* Ten letters, each with one that is best, and two numbers. */
static double letters_value(const struct run *run, const struct value *point)
{
    double sum = 0;

    (void)run;
    for (int i = 0; i < 10; i++)
        sum += point[i].text[0] != 'a' + i * 3 % 4;
    for (int i = 10; i < 12; i++)
        sum += fabs(point[i].real - 0.3);
    return sum;
}

static void test_cmaes__finds_categories(void **state)
{
    struct space *space = space_create(env);

    (void)state;
    for (int i = 0; i < 12; i++) {
        char name[24];
        struct param param = {.name = name,
                              .kind = i < 10 ? PARAM_CATEGORICAL : PARAM_FLOAT,
                              .values = letters,
                              .value_count = 4,
                              .max = 1};

        snprintf(name, sizeof(name), "p%d", i);
        assert_int_equal(space_add_param(space, &param, NULL), 0);
    }
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct run run = {.method = "cmaes",
                          .space = space,
                          .trials = 600,
                          .parallel = 4,
                          .seed = seed,
                          .value = letters_value};

        assert_true(best_of(&run) < 0.2);
        run.method = "random";
        assert_true(best_of(&run) > 2);
    }
    space_destroy(space);
}

static void test_cmaes__starts_anew_when_it_stalls(void **state)
{
    struct run run = {.method = "cmaes", .trials = 3000, .parallel = 1};
    double order = order_of(run, rastrigin, 2);
    struct problem problem = make_problem(flat, 2, false, 1);

    (void)state;
    assert_true(order < -5); /* one of 36 minima */
    run.space = make_cube(2);
    run.problem = &problem;
    run.value = problem_value;
    best_of(&run);
    assert_null(strstr(run.note, "restart 0"));
    assert_non_null(strstr(run.note, "restart"));
    space_destroy(run.space);
}

static void test_cmaes__says_at_what_rate_it_learns(void **state)
{
    struct run run = {.method = "cmaes", .trials = 300, .parallel = 1};
    struct problem problem = make_problem(ellipsoid, 3, false, 1);

    (void)state;
    run.space = make_cube(3);
    run.problem = &problem;
    run.value = problem_value;
    best_of(&run);
    assert_null(strstr(run.note, "learning rate"));
    run.adapts_rates = true;
    assert_true(best_of(&run) < 1);
    assert_non_null(strstr(run.note, "learning rate 0."));
    space_destroy(run.space);
}

/* All but the last 30 of many trials are told at once, as after a restart. */
static double seconds_after(size_t d, uint64_t trials)
{
    struct space *space = make_cube(d);
    struct problem problem = make_problem(ellipsoid, d, false, 1);
    struct run run = {.space = space, .problem = &problem};
    struct strategy_options options = {.method = "cmaes", .seed = 1};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct value point[DIMENSION_MAX];
    struct rng rng;
    clock_t start;
    double seconds;

    rng_init(&rng, 1, 1, 98);
    for (uint64_t trial = 1; trial <= trials; trial++) {
        double value;

        for (size_t i = 0; i < d; i++)
            point[i] = value_real(rng_uniform(&rng));
        value = problem_value(&run, point);
        strategy_restore(strategy, trial, point, 0);
        strategy_tell(strategy, trial,
                      &(struct trial_result){.values = &value});
    }
    start = clock();
    for (uint64_t trial = trials + 1; trial <= trials + 30; trial++)
        assert_int_equal(strategy_ask(strategy, trial, point, NULL, NULL),
                         ASK_OK);
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    strategy_destroy(strategy);
    space_destroy(space);
    return seconds;
}

static void test_cmaes__is_quick_where_there_is_much(void **state)
{
    (void)state;
    assert_true(seconds_after(5, 50000) < 5);
    assert_true(seconds_after(200, 2000) < 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cmaes__finds_what_random_misses_by_orders),
        cmocka_unit_test(test_cmaes__results_that_are_late_cost_little),
        cmocka_unit_test(test_cmaes__integers_do_not_freeze),
        cmocka_unit_test(test_cmaes__finds_categories),
        cmocka_unit_test(test_cmaes__starts_anew_when_it_stalls),
        cmocka_unit_test(test_cmaes__says_at_what_rate_it_learns),
        cmocka_unit_test(test_cmaes__is_quick_where_there_is_much),
    };

    return cmocka_run_group_tests_name("cmaes", tests, open_env, close_env);
}
