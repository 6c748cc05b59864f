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
#include "strategies/history/history.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

/* What methods that learn are shown of trials that a schedule stops, pauses and
 * lets go on. */

enum { ENOUGH = 15, VALUES_MAX = 64 }; /* of 4 parameters */

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

/* The number of the best trial that is complete. */
static uint64_t best_of(const struct history *history)
{
    size_t best = history->told[0];

    for (size_t i = 1; i < history->told_count; i++)
        if (history_better(history, history->told[i], best))
            best = history->told[i];
    return history->numbers[best];
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
    for (uint64_t trial = 6; trial <= 20; trial++)
        observe(&search, trial, 9, -(double)trial, false);
    history = strategy_history(search.strategy);
    assert_int_equal(history->complete_count, ENOUGH);
    assert_int_equal(best_of(history), 20);
    assert_int_equal(state_of(&search, 1), HISTORY_BEHIND);
    assert_int_equal(history->behind_count, 5);
    assert_int_equal(history->pending_count, 0);

    ask(&search, 1);
    assert_int_equal(search.reason.incumbent, 20);
    assert_non_null(strstr(search.reason.note, "and 5 with less resource"));
    assert_non_null(strstr(search.reason.note, "as of resource 9"));
    for (uint64_t trial = 6; trial <= 20; trial++)
        tell(&search, trial, OUTCOME_COMPLETE, (double)trial);
    history = strategy_history(search.strategy);
    assert_int_equal(best_of(history), 6);
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
    for (uint64_t trial = 1; trial <= ENOUGH; trial++)
        tell(&search, trial, OUTCOME_COMPLETE, (double)trial);
    history = strategy_history(search.strategy);
    assert_int_equal(history->told_count, ENOUGH);
    assert_int_equal(best_of(history), 1);
    assert_int_equal(state_of(&search, 20), HISTORY_BEHIND);
    search_close(&search);
}

/* Those on their way to the level are pending, and only those. */
static void test_fidelity__pending_trials_are_those_on_their_way(void **state)
{
    struct search search;

    (void)state;
    search_open(&search, "tpe", 0, 1);
    ask(&search, 20);
    for (uint64_t trial = 1; trial <= 16; trial++)
        observe(&search, trial, 4, 1, true);
    observe(&search, 17, 2, 1, true);
    observe(&search, 18, 2, 1, false);
    observe(&search, 19, 8, 1, true);
    assert_int_equal(state_of(&search, 1), HISTORY_COMPLETE);
    assert_int_equal(state_of(&search, 17), HISTORY_PENDING);
    assert_int_equal(state_of(&search, 18), HISTORY_BEHIND);
    assert_int_equal(state_of(&search, 19), HISTORY_ASIDE);
    assert_int_equal(state_of(&search, 20), HISTORY_PENDING);
    ask(&search, 1);
    assert_int_equal(state_of(&search, 21), HISTORY_PENDING);
    tell(&search, 17, OUTCOME_STOPPED, 1);
    assert_int_equal(state_of(&search, 17), HISTORY_BEHIND);
    tell(&search, 20, OUTCOME_STOPPED, 1); /* before anything was observed */
    assert_int_equal(state_of(&search, 20), HISTORY_ASIDE);
    observe(&search, 18, 4, 3, false); /* went on after all */
    assert_true(value_of(&search, 18) == 3);
    assert_int_equal(strategy_history(search.strategy)->behind_count, 1);
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
    ask(&search, 18);
    for (uint64_t trial = 1; trial <= 18; trial++)
        for (uint64_t step = 1; step <= trial; step++)
            observe(&search, trial, step, 100 * (double)step, step < trial);
    /* 1, 2 .. 3, 4 .. 7, 8 .. 15: of these 18, 17, 15 and 11 came so far */
    assert_int_equal(strategy_history(search.strategy)->told_count, 15);
    for (uint64_t trial = 4; trial <= 18; trial++)
        assert_true(value_of(&search, trial) == 400);
    assert_int_equal(state_of(&search, 3), HISTORY_BEHIND);
    strategy_observe(/* half of what it is to be judged by */
                     search.strategy, 3,
                     &(struct partial_result){
                         .resource = 4, .values = (double[]){1, (double)NAN}});
    assert_int_equal(strategy_history(search.strategy)->told_count, 15);
    search_close(&search);
}

static void test_fidelity__constraints_on_outcomes_count_on_the_way(
    void **state)
{
    struct strategy_options options = {.method = "tpe", .outcome_count = 1};
    struct space *space = spec_build(&specs[0], env);
    struct strategy *strategy = strategy_create(&options, space, NULL);
    const struct history *history;

    (void)state;
    for (uint64_t trial = 1; trial <= 4; trial++) {
        struct value point[VALUES_MAX];
        double value = (double)trial, outcome = trial == 1 ? 0.5 : -1;

        assert_int_equal(strategy_ask(strategy, trial, point, NULL, NULL),
                         ASK_OK);
        strategy_observe(strategy, trial,
                         &(struct partial_result){.resource = 3,
                                                  .values = &value,
                                                  .outcomes = &outcome});
    }
    history = strategy_history(strategy);
    assert_int_equal(best_of(history), 2);
    assert_true(history_violation(history, 0) == 0.5);
    strategy_destroy(strategy);
    space_destroy(space);
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
                            "drawn at random, without the model");
    }
    assert_in_range(random, 80, 120);
    search_close(&search);
}

static double distance(const struct history *history, size_t a, size_t b)
{
    double sum = 0;

    for (size_t i = 0; i < history->dimension; i++) {
        double by = history_unit(history, a)[i] - history_unit(history, b)[i];

        sum += isnan(by) ? 0 : by * by;
    }
    return sqrt(sum);
}

/* Each trial that falls behind says something of where it was. */
static void test_fidelity__what_fell_behind_is_not_tried_again(void **state)
{
    const struct history *history;
    struct search search;
    int near = 0;

    (void)state;
    search_open(&search, "bayesian", 0, 1);
    for (uint64_t trial = 1; trial <= 40; trial++) {
        ask(&search, 1);
        history = strategy_history(search.strategy);
        observe(&search, trial, 1, 5, trial <= 20);
        if (trial <= 20)
            tell(&search, trial, OUTCOME_COMPLETE,
                 history_unit(history, history->count - 1)[0]);
        else
            tell(&search, trial, OUTCOME_STOPPED, 5);
    }
    history = strategy_history(search.strategy);
    assert_int_equal(state_of(&search, 40), HISTORY_BEHIND);
    for (size_t i = 20; i < history->count; i++) {
        bool is_near = false;

        for (size_t j = 20; j < i; j++)
            is_near |= distance(history, i, j) < 0.05;
        near += is_near;
    }
    assert_in_range(near, 0, 2);
    search_close(&search);
}

/* ---- replay ---- */

enum { CALLS = 220 };

struct call {
    uint64_t trial, resource; /* 0: it is asked for */
    double value;
    enum trial_outcome outcome;
    bool is_end, goes_on;
};

/* A schedule by chance: trials come, run to 1, 3, 9 and 27, go on or pause
 * there, end in all ways, and some are run again after their end. */
static void draw_calls(struct call *calls)
{
    uint64_t asked = 0, used[CALLS + 1] = {0};
    struct rng rng;

    rng_init(&rng, 11, 0, 0);
    for (size_t i = 0; i < CALLS; i++) {
        uint64_t trial = asked > 0 ? 1 + rng_below(&rng, asked) : 0;
        uint64_t chance = rng_below(&rng, 100);

        if (asked == 0 || chance < 20 || (used[trial] > 9 && chance < 97)) {
            calls[i] = (struct call){.trial = ++asked};
            continue;
        }
        used[trial] = used[trial] == 0 ? 1 : 3 * used[trial];
        calls[i] = (struct call){.trial = trial,
                                 .resource = used[trial],
                                 .value = (double)(chance * trial % 17),
                                 .is_end = used[trial] > 9 || chance > 96,
                                 .goes_on = chance % 3 == 0,
                                 .outcome = (enum trial_outcome)(
                                     chance > 96 ? rng_below(&rng, 4) : 0)};
    }
}

static void make_call(struct strategy *strategy, const struct call *call)
{
    if (call->is_end)
        strategy_tell(strategy, call->trial,
                      &(struct trial_result){.outcome = call->outcome,
                                             .values = &call->value});
    else
        strategy_observe(strategy, call->trial,
                         &(struct partial_result){.resource = call->resource,
                                                  .values = &call->value,
                                                  .goes_on = call->goes_on});
}

struct asked {
    struct value point[4];
    uint64_t cursor;
};

/* The first calls from the record in place of asking: the rest is the same. */
static void play(const char *method, const struct call *calls, size_t recorded,
                 struct asked *asked, struct asked *again)
{
    struct suggestion suggestion;
    struct search search;

    search_open(&search, method, 0.2, 1);
    for (size_t i = 0; i < CALLS; i++) {
        uint64_t trial = calls[i].trial;

        if (calls[i].resource > 0) {
            make_call(search.strategy, &calls[i]);
        } else if (i < recorded) {
            strategy_restore(search.strategy, trial, asked[trial].point,
                             asked[trial].cursor);
        } else {
            assert_int_equal(strategy_ask(search.strategy, trial,
                                          again[trial].point, &suggestion,
                                          NULL),
                             ASK_OK);
            again[trial].cursor = suggestion.cursor;
        }
    }
    search_close(&search);
}

static void test_fidelity__goes_on_the_same_after_a_restart(void **state)
{
    static const char *const methods[] = {"tpe", "bayesian", "auto", "cmaes",
                                          "nsga2"};
    static const size_t cuts[] = {20, 97, 140, 190};
    struct asked asked[CALLS + 1], again[CALLS + 1];
    struct call calls[CALLS];

    (void)state;
    draw_calls(calls);
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        play(methods[m], calls, 0, NULL, asked);
        for (size_t c = 0; c < ARRAY_LEN(cuts); c++) {
            play(methods[m], calls, cuts[c], asked, again);
            for (size_t i = cuts[c]; i < CALLS; i++)
                for (size_t k = 0; k < 4 && calls[i].resource == 0; k++)
                    if (!value_equal(&asked[calls[i].trial].point[k],
                                     &again[calls[i].trial].point[k]))
                        fail_msg("%s: trial %d differs after a restart",
                                 methods[m], (int)calls[i].trial);
        }
    }
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
        cmocka_unit_test(
            test_fidelity__constraints_on_outcomes_count_on_the_way),
        cmocka_unit_test(test_fidelity__results_of_earlier_runs_are_at_the_top),
        cmocka_unit_test(test_fidelity__a_share_is_tried_at_random),
        cmocka_unit_test(test_fidelity__what_fell_behind_is_not_tried_again),
        cmocka_unit_test(test_fidelity__goes_on_the_same_after_a_restart),
    };

    return cmocka_run_group_tests_name("fidelity", tests, open_env, close_env);
}
