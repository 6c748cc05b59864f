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
#include "strategies/history.h"
#include "strategies/strategy.h"
#include "tests/unit/spaces.h"

/* What methods that learn are shown of trials that a schedule stops, pauses and
 * lets go on. */

enum { ENOUGH = 10, VALUES_MAX = 64, TRIALS = 60 };

static struct expr_env *env;

static int open_env(void **state)
{
    (void)state;
    env = expr_env_create(NULL);
    return env != NULL ? 0 : -1;
}

static int close_env(void **state)
{
    (void)state;
    expr_env_destroy(env);
    return 0;
}

/* A search with trials 1 .. asked, for tests of what it knows. */
struct search {
    struct space *space;
    struct strategy *strategy;
    uint64_t asked;
    struct value point[VALUES_MAX]; /* of the last one */
    struct reason reason;
};

static void search_open(struct search *search, const char *method,
                        double random_fraction, size_t objectives)
{
    struct strategy_options options = {.method = method,
                                       .seed = 3,
                                       .objective_count = objectives,
                                       .random_fraction = random_fraction};

    *search = (struct search){.space = spec_build(&specs[0], env)};
    search->strategy = strategy_create(&options, search->space, NULL);
    assert_non_null(search->strategy);
}

static void search_close(struct search *search)
{
    strategy_destroy(search->strategy);
    space_destroy(search->space);
}

static void ask(struct search *search, uint64_t count)
{
    struct suggestion suggestion;

    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(strategy_ask(search->strategy, ++search->asked,
                                      search->point, &suggestion, NULL),
                         ASK_OK);
    search->reason = suggestion.reason;
}

static void observe(struct search *search, uint64_t trial, uint64_t resource,
                    double value, bool goes_on)
{
    double values[] = {value, -value};

    strategy_observe(search->strategy, trial,
                     &(struct partial_result){.resource = resource,
                                              .values = values,
                                              .goes_on = goes_on});
}

static void tell(struct search *search, uint64_t trial,
                 enum trial_outcome outcome, double value)
{
    double values[] = {value, -value};

    strategy_tell(search->strategy, trial,
                  &(struct trial_result){.outcome = outcome, .values = values});
}

static enum history_state state_of(const struct search *search, uint64_t trial)
{
    const struct history *history = strategy_history(search->strategy);

    return (enum history_state)history->states[history_find(history, trial)];
}

static double value_of(const struct search *search, uint64_t trial)
{
    const struct history *history = strategy_history(search->strategy);

    return history_values(history, history_find(history, trial))[0];
}

/* All trials came to 3; a few of them went on, and are the worse for it. */
static void test_fidelity__trials_are_compared_at_the_same_resource(
    void **state)
{
    struct search search;

    (void)state;
    search_open(&search, "tpe", 0, 1);
    ask(&search, 20);
    for (uint64_t trial = 1; trial <= 20; trial++)
        observe(&search, trial, 3, (double)trial, false);
    for (uint64_t trial = 1; trial < ENOUGH; trial++)
        observe(&search, trial, 9, 100 + (double)trial, false);
    for (uint64_t trial = 1; trial <= 3; trial++)
        tell(&search, trial, OUTCOME_COMPLETE, 200);
    assert_int_equal(strategy_history(search.strategy)->complete_count, 20);
    for (uint64_t trial = 1; trial <= 20; trial++)
        assert_true(value_of(&search, trial) == (double)trial);
    search_close(&search);
}

/* As soon as enough have come to 9, what was best at 3 and went no further is
 * no result, and what looked bad at 3 is the best. */
static void test_fidelity__the_highest_level_with_enough_counts(void **state)
{
    const struct history *history;
    struct search search;

    (void)state;
    search_open(&search, "tpe", 0, 1);
    ask(&search, 20);
    for (uint64_t trial = 1; trial <= 20; trial++)
        observe(&search, trial, 3, (double)trial, false);
    for (uint64_t trial = 11; trial <= 20; trial++)
        observe(&search, trial, 9, -(double)trial, false);
    history = strategy_history(search.strategy);
    assert_int_equal(history->complete_count, ENOUGH);
    assert_int_equal(history->numbers[history_best(history)], 20);
    assert_int_equal(state_of(&search, 1), HISTORY_ASIDE);
    assert_int_equal(history->pending_count, 0);

    ask(&search, 1);
    assert_int_equal(search.reason.incumbent, 20);
    for (uint64_t trial = 11; trial <= 20; trial++)
        tell(&search, trial, OUTCOME_COMPLETE, (double)trial);
    history = strategy_history(search.strategy);
    assert_int_equal(history->numbers[history_best(history)], 11);
    assert_int_equal(history->complete_count, ENOUGH);
    search_close(&search);
}

/* A trial that was stopped while it was lucky, and told with what it had, is
 * neither the best of all nor there twice. */
static void test_fidelity__a_stopped_trial_is_no_complete_one(void **state)
{
    const struct history *history;
    struct search search;

    (void)state;
    search_open(&search, "tpe", 0, 1);
    ask(&search, 20);
    for (uint64_t trial = 1; trial <= 20; trial++)
        observe(&search, trial, 1, trial == 20 ? -9 : 5, trial != 20);
    tell(&search, 20, OUTCOME_STOPPED, -9);
    assert_int_equal(state_of(&search, 20), HISTORY_COMPLETE);
    assert_int_equal(strategy_history(search.strategy)->told_count, 20);
    for (uint64_t trial = 1; trial <= 12; trial++)
        tell(&search, trial, OUTCOME_COMPLETE, (double)trial);
    history = strategy_history(search.strategy);
    assert_int_equal(history->told_count, 12);
    assert_int_equal(history->numbers[history_best(history)], 1);
    assert_int_equal(state_of(&search, 20), HISTORY_ASIDE);
    search_close(&search);
}

/* Those on their way to the level are pending, and only those. */
static void test_fidelity__pending_trials_are_those_on_their_way(void **state)
{
    struct search search;

    (void)state;
    search_open(&search, "tpe", 0, 1);
    ask(&search, 16);
    for (uint64_t trial = 1; trial <= 12; trial++)
        observe(&search, trial, 4, 1, true);
    observe(&search, 13, 2, 1, true);
    observe(&search, 14, 2, 1, false);
    observe(&search, 15, 8, 1, true);
    assert_int_equal(state_of(&search, 1), HISTORY_COMPLETE);
    assert_int_equal(state_of(&search, 13), HISTORY_PENDING);
    assert_int_equal(state_of(&search, 14), HISTORY_ASIDE);
    assert_int_equal(state_of(&search, 15), HISTORY_ASIDE);
    assert_int_equal(state_of(&search, 16), HISTORY_PENDING);
    ask(&search, 1);
    assert_int_equal(state_of(&search, 17), HISTORY_PENDING);
    tell(&search, 13, OUTCOME_STOPPED, 1);
    assert_int_equal(state_of(&search, 13), HISTORY_ASIDE);
    observe(&search, 14, 4, 3, false); /* went on after all */
    assert_true(value_of(&search, 14) == 3);
    search_close(&search);
}

static void test_fidelity__a_failure_is_one_at_every_level(void **state)
{
    struct search search;

    (void)state;
    search_open(&search, "tpe", 0, 1);
    ask(&search, 16);
    for (uint64_t trial = 1; trial <= 12; trial++)
        observe(&search, trial, 4, 1, true);
    tell(&search, 1, OUTCOME_FAILED, 0);
    tell(&search, 16, OUTCOME_FAILED, 0);
    tell(&search, 2, OUTCOME_CANCELLED, 0);
    observe(&search, 13, 4, (double)NAN, true);
    assert_int_equal(state_of(&search, 1), HISTORY_FAILED);
    assert_int_equal(state_of(&search, 2), HISTORY_CANCELLED);
    assert_int_equal(state_of(&search, 13), HISTORY_FAILED);
    assert_int_equal(state_of(&search, 16), HISTORY_FAILED);
    assert_int_equal(strategy_history(search.strategy)->complete_count, 10);
    tell(&search, 1, OUTCOME_COMPLETE, 7); /* run again */
    assert_true(value_of(&search, 1) == 1);
    search_close(&search);
}

/* A curve counts with the first point of a level, and once. */
static void test_fidelity__curves_are_compared_at_the_same_point(void **state)
{
    struct search search;

    (void)state;
    search_open(&search, "tpe", 0, 2);
    ask(&search, 12);
    for (uint64_t trial = 1; trial <= 12; trial++)
        for (uint64_t step = 1; step <= trial; step++)
            observe(&search, trial, step, 100 * (double)step, step < trial);
    /* 1, 2 .. 3, 4 .. 7: of these 12, 11, 9 and more came so far */
    assert_int_equal(strategy_history(search.strategy)->complete_count, 11);
    for (uint64_t trial = 2; trial <= 12; trial++)
        assert_true(value_of(&search, trial) == 200);
    strategy_observe(search.strategy, 1,
                     &(struct partial_result){
                         .resource = 2, .values = (double[]){1, (double)NAN}});
    assert_int_equal(strategy_history(search.strategy)->told_count, 11);
    search_close(&search);
}

static void test_fidelity__results_of_earlier_runs_are_at_the_top(void **state)
{
    struct search search;
    double value = 1;

    (void)state;
    search_open(&search, "random", 0, 1);
    ask(&search, ENOUGH);
    search_close(&search);
    search_open(&search, "tpe", 0, 1);
    for (int i = 0; i < ENOUGH; i++)
        strategy_add_earlier(search.strategy, search.point,
                             &(struct trial_result){.values = &value}, true);
    ask(&search, 30);
    for (uint64_t trial = 1; trial <= 30; trial++)
        observe(&search, trial, 3, 0, false);
    assert_int_equal(strategy_history(search.strategy)->complete_count, ENOUGH);
    search_close(&search);
}

static void test_fidelity__a_share_is_tried_at_random(void **state)
{
    int random = 0;
    struct search search;

    (void)state;
    search_open(&search, "tpe", 1. / 3, 1);
    for (uint64_t trial = 1; trial <= 300; trial++) {
        ask(&search, 1);
        tell(&search, trial, OUTCOME_COMPLETE, (double)(trial % 9));
        if (strcmp(search.reason.method, "random") != 0)
            continue;
        random++;
        assert_string_equal(search.reason.step,
                            "at random, so that nothing binds");
    }
    assert_in_range(random, 80, 120);
    search_close(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_fidelity__trials_are_compared_at_the_same_resource),
        cmocka_unit_test(test_fidelity__the_highest_level_with_enough_counts),
        cmocka_unit_test(test_fidelity__a_stopped_trial_is_no_complete_one),
        cmocka_unit_test(test_fidelity__pending_trials_are_those_on_their_way),
        cmocka_unit_test(test_fidelity__a_failure_is_one_at_every_level),
        cmocka_unit_test(test_fidelity__curves_are_compared_at_the_same_point),
        cmocka_unit_test(test_fidelity__results_of_earlier_runs_are_at_the_top),
        cmocka_unit_test(test_fidelity__a_share_is_tried_at_random),
    };

    return cmocka_run_group_tests_name("fidelity", tests, open_env, close_env);
}
