/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/importance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/history/history.h"
#include "tests/unit/strategies/spaces.h"

enum { DIMENSIONS_MAX = 24 };

/* Where the test's objectives take their values from: the unit coordinates of
 * a trial, NaN where inactive, and noise that only depends on the trial. */
typedef double objective_fn(const double *u, double noise);

struct setting {
    struct expr_env *env;
    struct space *space;
    struct history history;
    double shares[DIMENSIONS_MAX];
};

static const struct param plain[] = {
    SPEC_FLOAT("useless_a", 0, 1, LINEAR),
    SPEC_FLOAT("lr", 1e-5, 1, LOG),
    SPEC_WORDS("word", CATEGORICAL, 3),
    SPEC_INT("width", 1, 1000, 0, LOG),
    SPEC_BOOL("flag"),
    SPEC_INT("depth", 1, 4, 0, LINEAR),
    SPEC_FLOAT("useless_b", 0, 0.999, REVERSE_LOG),
    SPEC_WORDS("fixed", CONST, 1),
};
enum { USELESS_A, LR, WORD, WIDTH, FLAG, DEPTH, USELESS_B, FIXED, PLAIN };

static const struct spec plain_spec = {"plain", plain, PLAIN, NULL, NULL, 0};

static void setting_init(struct setting *setting, const struct spec *spec,
                         size_t objectives)
{
    struct err err = {0};

    setting->env = expr_env_create(&err);
    setting->space = spec_build(spec, setting->env);
    history_init(&setting->history, setting->space, objectives, 0);
}

static void setting_clear(struct setting *setting)
{
    history_clear(&setting->history);
    space_destroy(setting->space);
    expr_env_destroy(setting->env);
}

/* `count` random trials, each told in full. */
static void add_trials(struct setting *setting, size_t count, uint64_t seed,
                       objective_fn *const *objectives)
{
    struct history *history = &setting->history;
    struct value point[DIMENSIONS_MAX];
    double unit[DIMENSIONS_MAX], values[2];

    for (uint64_t i = 1; i <= count; i++) {
        struct rng rng;
        size_t index;
        double noise;

        rng_init(&rng, seed, i, 0);
        for (size_t d = 0; d < history->dimension; d++)
            unit[d] = rng_uniform(&rng);
        noise = rng_uniform(&rng);
        space_decode(setting->space, unit, point);
        index = history_ask(history, history->count + 1, point);
        for (size_t k = 0; k < history->objective_count; k++)
            values[k] = objectives[k](history_unit(history, index), noise);
        history_tell(history, index,
                     isnan(values[0]) ? HISTORY_FAILED : HISTORY_COMPLETE,
                     values, NULL);
    }
}

static double sum(const struct setting *setting)
{
    double total = 0.0;

    for (size_t d = 0; d < setting->history.dimension; d++) {
        assert_true(setting->shares[d] >= 0.0);
        total += setting->shares[d];
    }
    return total;
}

static size_t compute(struct setting *setting, size_t objective)
{
    return importance_of(&setting->history, objective, setting->shares);
}

/* Mean shares of a function over seeds. */
static void mean_shares(const struct spec *spec, objective_fn *f, size_t trials,
                        double *mean)
{
    enum { SEEDS = 6 };
    struct setting setting;

    for (size_t d = 0; d < DIMENSIONS_MAX; d++)
        mean[d] = 0.0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        setting_init(&setting, spec, 1);
        add_trials(&setting, trials, seed, &f);
        assert_int_equal(compute(&setting, 0), trials);
        assert_true(fabs(sum(&setting) - 1.0) < 1e-12);
        for (size_t d = 0; d < setting.history.dimension; d++)
            mean[d] += setting.shares[d] / SEEDS;
        setting_clear(&setting);
    }
}

static double of_lr(const double *u, double noise)
{
    return pow(u[LR] - 0.3, 2.0) + 0.001 * noise;
}

/* 12 random trials, then 48 with lr within 0.03 of the best. */
static void add_settled(struct setting *setting, uint64_t seed)
{
    objective_fn *f = of_lr;

    add_trials(setting, 12, seed, &f);
    for (uint64_t i = 13; i <= 60; i++) {
        struct value point[PLAIN];
        double unit[PLAIN], value;
        struct rng rng;
        size_t index;

        rng_init(&rng, seed, i, 1);
        for (size_t d = 0; d < PLAIN; d++)
            unit[d] = rng_uniform(&rng);
        unit[LR] = 0.27 + 0.06 * unit[LR];
        space_decode(setting->space, unit, point);
        index = history_ask(&setting->history, i, point);
        value =
            of_lr(history_unit(&setting->history, index), rng_uniform(&rng));
        history_tell(&setting->history, index, HISTORY_COMPLETE, &value, NULL);
    }
}

static double of_word(const double *u, double noise)
{
    return (u[WORD] < 0.34 ? 0.0 : 1.0) + noise;
}

static double of_depth_and_width(const double *u, double noise)
{
    return -2.0 * u[DEPTH] + u[WIDTH] + 0.1 * noise;
}

static void check_alone(objective_fn *f, size_t parameter, size_t trials,
                        double least)
{
    double mean[DIMENSIONS_MAX];

    mean_shares(&plain_spec, f, trials, mean);
    if (mean[parameter] < least)
        fail_msg("%s has %g of %zu trials, not %g", plain[parameter].name,
                 mean[parameter], trials, least);
}

static void test_importance__finds_the_parameter_that_matters(void **state)
{
    (void)state;
    check_alone(of_lr, LR, 20, 0.5);
    check_alone(of_lr, LR, 100, 0.8);
    check_alone(of_lr, LR, 300, 0.95);
    check_alone(of_word, WORD, 100, 0.5);
    check_alone(of_word, WORD, 300, 0.8);
}

static void test_importance__ranks_parameters(void **state)
{
    double mean[DIMENSIONS_MAX];

    (void)state;
    mean_shares(&plain_spec, of_depth_and_width, 200, mean);
    assert_true(mean[DEPTH] > mean[WIDTH]);
    assert_true(mean[WIDTH] > 3.0 * mean[USELESS_A]);
    assert_true(mean[WIDTH] > 3.0 * mean[USELESS_B]);
    assert_true(mean[WIDTH] > 3.0 * mean[WORD]);
    assert_true(mean[WIDTH] > 3.0 * mean[FLAG]);
    assert_true(mean[FIXED] == 0.0);
}

static double of_both(const double *u, double noise)
{
    (void)noise;
    return fabs(u[0] - 0.7) + fabs(u[1] - 0.7);
}

static void test_importance__equal_parameters_tie(void **state)
{
    static const struct param twins[] = {
        SPEC_FLOAT("a", 0, 1, LINEAR),
        SPEC_FLOAT("b", 0, 1, LINEAR),
    };
    static const struct spec spec = {"twins", twins, 2, NULL, NULL, 0};
    double mean[DIMENSIONS_MAX];

    (void)state;
    mean_shares(&spec, of_both, 400, mean);
    assert_true(fabs(mean[0] - 0.5) < 0.03);
}

/* ---- conditional parameters ---- */

static const struct param branches[] = {
    SPEC_WORDS("word", CATEGORICAL, 3), SPEC_FLOAT("of_sgd", 0, 1, LINEAR),
    SPEC_FLOAT("of_adam", 0, 1, LINEAR), SPEC_FLOAT("useless", 0, 1, LINEAR)};
static const char *const branches_when[][2] = {
    {"of_sgd", "word = 'sgd'"}, {"of_adam", "word <> 'sgd'"}, {NULL, NULL}};
static const struct spec branches_spec = {"branches",    branches, 4,
                                          branches_when, NULL,     0};

static double of_the_branches(const double *u, double noise)
{
    double x = isnan(u[1]) ? u[2] : u[1];

    return fabs(x - 0.2) + 0.01 * noise;
}

static void test_importance__conditional_counts_where_it_is_active(void **state)
{
    double mean[DIMENSIONS_MAX];

    (void)state;
    mean_shares(&branches_spec, of_the_branches, 600, mean);
    assert_true(fabs(mean[1] - 1.0 / 3.0) < 0.05);
    assert_true(fabs(mean[2] - 2.0 / 3.0) < 0.05);
    assert_true(mean[0] < 0.02);
    assert_true(mean[3] < 0.02);
}

/* ---- what is odd ---- */

static double failing(const double *u, double noise)
{
    return noise < 0.4 ? (double)NAN : of_lr(u, 0.0);
}

static void test_importance__failures_are_left_out(void **state)
{
    objective_fn *f = failing;
    struct setting setting;
    size_t used;

    (void)state;
    setting_init(&setting, &plain_spec, 1);
    add_trials(&setting, 200, 7, &f);
    used = compute(&setting, 0);
    assert_int_equal(used, setting.history.complete_count);
    assert_true(used > 80 && used < 160);
    assert_true(setting.shares[LR] > 0.7);
    setting_clear(&setting);
}

static double constant(const double *u, double noise)
{
    (void)u;
    (void)noise;
    return 1.0;
}

static void test_importance__says_nothing_without_reason(void **state)
{
    objective_fn *flat = constant, *good = of_lr;
    struct setting setting;

    (void)state;
    setting_init(&setting, &plain_spec, 1);
    assert_int_equal(compute(&setting, 0), 0);
    assert_true(sum(&setting) == 0.0);
    add_trials(&setting, IMPORTANCE_RESULTS_MIN - 1, 1, &good);
    assert_int_equal(compute(&setting, 0), IMPORTANCE_RESULTS_MIN - 1);
    assert_true(sum(&setting) == 0.0);
    setting_clear(&setting);
    setting_init(&setting, &plain_spec, 1);
    add_trials(&setting, 100, 1, &flat);
    assert_int_equal(compute(&setting, 0), 100);
    assert_true(sum(&setting) == 0.0);
    setting_clear(&setting);
}

static double huge(const double *u, double noise)
{
    return (u[LR] < 0.5 ? -1.0 : 1.0) * 1e308 * (0.1 + u[LR] * noise);
}

static void test_importance__takes_huge_values(void **state)
{
    objective_fn *f = huge;
    struct setting setting;

    (void)state;
    setting_init(&setting, &plain_spec, 1);
    add_trials(&setting, 100, 1, &f);
    compute(&setting, 0);
    assert_true(fabs(sum(&setting) - 1.0) < 1e-12);
    assert_true(setting.shares[LR] > 0.5);
    setting_clear(&setting);
}

/* A search that has settled on the best place looks there alone. */
static void test_importance__sees_what_a_search_has_settled(void **state)
{
    double lr = 0.0, useless = 0.0;

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct setting setting;

        setting_init(&setting, &plain_spec, 1);
        add_settled(&setting, seed);
        compute(&setting, 0);
        lr += setting.shares[LR] / 6.0;
        useless += (setting.shares[USELESS_A] + setting.shares[USELESS_B] +
                    setting.shares[WORD] + setting.shares[FLAG]) /
                   6.0;
        setting_clear(&setting);
    }
    assert_true(lr > 0.7);
    assert_true(useless < 0.15);
}

/* The same results give the same shares. */
static void test_importance__is_repeatable(void **state)
{
    objective_fn *f = of_depth_and_width;
    struct setting setting;
    double before[PLAIN];

    (void)state;
    setting_init(&setting, &plain_spec, 1);
    add_trials(&setting, 50, 3, &f);
    compute(&setting, 0);
    memcpy(before, setting.shares, sizeof(before));
    compute(&setting, 0);
    assert_memory_equal(before, setting.shares, sizeof(before));
    setting_clear(&setting);
}

static void test_importance__each_objective_has_its_own(void **state)
{
    objective_fn *const both[] = {of_lr, of_depth_and_width};
    struct setting setting;

    (void)state;
    setting_init(&setting, &plain_spec, 2);
    add_trials(&setting, 300, 5, both);
    compute(&setting, 0);
    assert_true(setting.shares[LR] > 0.8);
    compute(&setting, 1);
    assert_true(setting.shares[DEPTH] > 0.4);
    assert_true(setting.shares[LR] < 0.1);
    setting_clear(&setting);
}

static double many_seconds(struct setting *setting)
{
    struct timespec start, end;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    compute(setting, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return (double)(end.tv_sec - start.tv_sec) +
           (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
}

static void test_importance__100000_trials_are_no_work(void **state)
{
    objective_fn *f = of_lr;
    struct setting setting;
    double seconds;

    (void)state;
    setting_init(&setting, &plain_spec, 1);
    add_trials(&setting, 100000, 1, &f);
    seconds = many_seconds(&setting);
    print_message("100,000 trials, 8 parameters: %.0f ms\n", seconds * 1e3);
    assert_true(seconds < 1.0); /* with sanitizers; without, a tenth */
    assert_true(setting.shares[LR] > 0.99);
    setting_clear(&setting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_importance__finds_the_parameter_that_matters),
        cmocka_unit_test(test_importance__ranks_parameters),
        cmocka_unit_test(test_importance__equal_parameters_tie),
        cmocka_unit_test(
            test_importance__conditional_counts_where_it_is_active),
        cmocka_unit_test(test_importance__failures_are_left_out),
        cmocka_unit_test(test_importance__says_nothing_without_reason),
        cmocka_unit_test(test_importance__takes_huge_values),
        cmocka_unit_test(test_importance__sees_what_a_search_has_settled),
        cmocka_unit_test(test_importance__is_repeatable),
        cmocka_unit_test(test_importance__each_objective_has_its_own),
        cmocka_unit_test(test_importance__100000_trials_are_no_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
