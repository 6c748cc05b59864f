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
#include "strategies/strategy.h"
#include "tests/unit/strategies/spaces.h"

/* Which method auto leaves a trial to. */

enum { PARAMS_MAX = 16 };

struct tuner {
    struct expr_env *env;
    struct space *space;
    struct strategy *strategy;
    size_t objectives;
};

static void tuner_init(struct tuner *tuner, size_t objectives)
{
    struct strategy_options options = {
        .method = "auto", .seed = 3, .objective_count = objectives};

    tuner->env = expr_env_create(NULL);
    tuner->space = spec_build(&specs[0], tuner->env); /* continuous */
    tuner->strategy = strategy_create(&options, tuner->space, NULL);
    tuner->objectives = objectives;
    assert_non_null(tuner->strategy);
}

static void tuner_clear(struct tuner *tuner)
{
    strategy_destroy(tuner->strategy);
    space_destroy(tuner->space);
    expr_env_destroy(tuner->env);
}

/* Tells results of points that were not asked for: the quick way to many. */
static void tuner_add(struct tuner *tuner, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double unit[PARAMS_MAX], values[2];
        struct value point[PARAMS_MAX];

        for (size_t k = 0; k < space_count(tuner->space); k++)
            unit[k] = fmod(0.618 * (double)(i + 1) * (double)(k + 1), 1);
        space_decode(tuner->space, unit, point);
        values[0] = unit[0] + unit[1];
        values[1] = 2 - unit[0] * unit[2];
        strategy_add_earlier(tuner->strategy, point,
                             &(struct trial_result){.values = values}, true);
    }
}

static struct reason tuner_ask(struct tuner *tuner, uint64_t trial)
{
    struct value point[PARAMS_MAX];
    struct suggestion suggestion;

    assert_int_equal(
        strategy_ask(tuner->strategy, trial, point, &suggestion, NULL), ASK_OK);
    return suggestion.reason;
}

static void expect(struct tuner *tuner, uint64_t trial, const char *method)
{
    assert_string_equal(tuner_ask(tuner, trial).method, method);
}

static void test_auto__hears_another_opinion_every_third_trial(void **state)
{
    struct tuner tuner;

    (void)state;
    tuner_init(&tuner, 1);
    for (uint64_t trial = 1; trial <= 6; trial++)
        expect(&tuner, trial, "bayesian");
    tuner_add(&tuner, 12);
    expect(&tuner, 7, "bayesian");
    expect(&tuner, 8, "bayesian");
    expect(&tuner, 9, "tpe");
    expect(&tuner, 10, "bayesian");
    tuner_clear(&tuner);
}

static void test_auto__is_quick_where_there_are_many_results(void **state)
{
    struct tuner tuner;

    (void)state;
    tuner_init(&tuner, 1);
    tuner_add(&tuner, 2000);
    expect(&tuner, 1, "tpe");
    expect(&tuner, 2, "tpe");
    tuner_clear(&tuner);
}

static void test_auto__breeds_long_fronts(void **state)
{
    struct tuner tuner;

    (void)state;
    tuner_init(&tuner, 2);
    tuner_add(&tuner, 30);
    expect(&tuner, 1, "bayesian");
    tuner_add(&tuner, 400);
    expect(&tuner, 2, "nsga2");
    tuner_clear(&tuner);
}

static void test_auto__says_why(void **state)
{
    struct tuner tuner;
    struct reason reason;

    (void)state;
    tuner_init(&tuner, 1);
    tuner_add(&tuner, 12);
    tuner_ask(&tuner, 1);
    tuner_ask(&tuner, 2);
    reason = tuner_ask(&tuner, 3);
    assert_non_null(strstr(reason.note, "every third trial"));
    assert_non_null(strstr(reason.note, "; ")); /* and what tpe says */
    tuner_clear(&tuner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto__hears_another_opinion_every_third_trial),
        cmocka_unit_test(test_auto__is_quick_where_there_are_many_results),
        cmocka_unit_test(test_auto__breeds_long_fronts),
        cmocka_unit_test(test_auto__says_why),
    };

    return cmocka_run_group_tests_name("auto", tests, NULL, NULL);
}
