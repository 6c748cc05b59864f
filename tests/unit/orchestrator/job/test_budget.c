/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "orchestrator/job/budget.h"

static const struct objective minimize = {.metric = "loss"};
static const struct objective maximize = {.metric = "gain", .maximize = true};

static void test_budget__best_follows_the_goal(void **state)
{
    static const double values[] = {3.0, 1.0, 2.0, 5.0, 1.0};
    struct tally low, high;

    (void)state;
    tally_init(&low, 0.01);
    tally_init(&high, 0.01);
    for (int i = 0; i < 5; i++) {
        tally_add_result(&low, &minimize, i + 1, i + 1, values[i]);
        tally_add_result(&high, &maximize, i + 1, i + 1, values[i]);
    }
    assert_int_equal(low.best_trial, 2); /* the first of equals */
    assert_int_equal(low.since_best, 3);
    assert_int_equal(high.best_trial, 4);
    assert_int_equal(high.since_best, 1);
    assert_int_equal(tally_ended(&low), 5);
}

static void test_budget__what_is_not_finite_is_never_best(void **state)
{
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    assert_false(tally_add_result(&tally, &maximize, 1, 1, (double)INFINITY));
    assert_false(tally_add_result(&tally, &minimize, 2, 2, (double)-INFINITY));
    assert_false(tally_add_result(&tally, &minimize, 3, 3, (double)NAN));
    assert_int_equal(tally.best_trial, 0);
    assert_int_equal(tally.succeeded, 0); /* and is counted apart */
    assert_int_equal(tally.nonfinite, 3);
    assert_int_equal(tally_ended(&tally), 3);
    assert_true(tally_add_result(&tally, &minimize, 4, 4, 1e300));
    assert_int_equal(tally.best_trial, 4);
}

static void test_budget__limits(void **state)
{
    struct budget budget = {.trials = 10,
                            .time_ms = 1000,
                            .has_target = true,
                            .target = 0.5,
                            .no_improvement = 3};
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 1000),
                     BUDGET_TIME);
    tally.suggested = 10;
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0),
                     BUDGET_TRIALS);
    tally_add_result(&tally, &minimize, 1, 1, 0.6);
    tally.since_best = 2;
    tally.suggested = 4;
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally.since_best = 3;
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0),
                     BUDGET_NO_IMPROVEMENT);
    tally_add_result(&tally, &minimize, 2, 2, 0.5); /* reached when equal */
    assert_int_equal(budget_check(&budget, &minimize, &tally, 5000),
                     BUDGET_TARGET);
}

static void test_budget__target_of_a_maximum(void **state)
{
    struct budget budget = {.has_target = true, .target = 0.9};
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    tally_add_result(&tally, &maximize, 1, 1, 0.89);
    assert_int_equal(budget_check(&budget, &maximize, &tally, 0), BUDGET_GO_ON);
    tally_add_result(&tally, &maximize, 2, 2, 0.91);
    assert_int_equal(budget_check(&budget, &maximize, &tally, 0),
                     BUDGET_TARGET);
}

static void test_budget__what_is_infeasible_is_no_improvement(void **state)
{
    struct budget budget = {
        .has_target = true, .target = 5.0, .no_improvement = 3};
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    tally_add_infeasible(&tally);
    assert_int_equal(tally.best_trial, 0);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally_add_other(&tally, JOB_FAILED, 1);
    tally_add_other(&tally, JOB_CANCELLED, 1);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally_add_infeasible(&tally);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0),
                     BUDGET_NO_IMPROVEMENT);
    assert_int_equal(tally_ended(&tally), 4);
    assert_int_equal(tally.infeasible, 2);
    assert_true(tally_add_result(&tally, &minimize, 5, 5, 5.0));
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0),
                     BUDGET_TARGET);
}

static void test_budget__failures_in_all(void **state)
{
    struct budget budget = {.trials = 20, .failures = 2};
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    tally_add_other(&tally, JOB_FAILED, 1);
    tally_add_other(&tally, JOB_STOPPED, 2);
    tally_add_result(&tally, &minimize, 3, 3, 1.0);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally_add_other(&tally, JOB_FAILED, 40);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0),
                     BUDGET_FAILURES);
    tally_remove(&tally, JOB_FAILED, false, 40, 4);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
}

/* The first by number; whichever ends first, and whatever else has failed. */
static void test_budget__the_first_trials_all_failed(void **state)
{
    struct budget budget = {.trials = 100, .gives_up = true};
    struct budget patient = {.trials = 100};
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    for (int i = 30; i > 1; i--)
        tally_add_other(&tally, JOB_FAILED, i);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally_add_other(&tally, JOB_FAILED, 1);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0),
                     BUDGET_FIRST_FAILED);
    assert_int_equal(budget_check(&patient, &minimize, &tally, 0),
                     BUDGET_GO_ON);
    tally_remove(&tally, JOB_FAILED, false, 7, 24);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally_add_other(&tally, JOB_FAILED, 7);
    tally_add_infeasible(&tally);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally_forget(&tally);
    assert_int_equal(tally.first_failed, 0);
}

static void test_budget__a_verdict_is_found_by_its_text(void **state)
{
    (void)state;
    for (int i = BUDGET_GO_ON; i < BUDGET_VERDICT_COUNT; i++)
        assert_int_equal(
            budget_verdict_find(budget_verdict_text((enum budget_verdict)i)),
            i);
    assert_int_equal(budget_verdict_find("stopped by its user"), BUDGET_GO_ON);
    assert_int_equal(
        budget_verdict_find("no trial succeeded: time budget used up"),
        BUDGET_TIME);
    assert_int_equal(budget_verdict_find(
                         "no trial succeeded: trial budget used up (3 of 3)"),
                     BUDGET_TRIALS);
    assert_int_equal(budget_verdict_find("time budget used up, or so"),
                     BUDGET_GO_ON);
    assert_null(budget_vain_reason("time budget used up"));
}

/* As if it had never been added. */
static void test_budget__a_result_is_taken_back(void **state)
{
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    tally_add_other(&tally, JOB_FAILED, 1); /* place 1 */
    tally_add_result(&tally, &minimize, 2, 2, 5.0);
    tally_add_other(&tally, JOB_FAILED, 3);
    tally_add_infeasible(&tally);
    tally_add_other(&tally, JOB_STOPPED, 5);
    tally_add_other(&tally, JOB_CANCELLED, 6);
    assert_int_equal(tally.since_best, 3);
    tally_remove(&tally, JOB_FAILED, false, 1, 1);
    assert_int_equal(tally.since_best, 3);
    tally_remove(&tally, JOB_FAILED, false, 3, 3);
    tally_remove(&tally, JOB_SUCCEEDED, true, 4, 4);
    tally_remove(&tally, JOB_STOPPED, false, 5, 5);
    tally_remove(&tally, JOB_CANCELLED, false, 6, 6);
    assert_int_equal(tally.since_best, 0);
    assert_int_equal(tally_ended(&tally), 1);
    assert_int_equal(tally.infeasible, 0);
    assert_int_equal(tally.best_trial, 2);
}

/* Results in that order; how many have come since the last improvement. */
static int64_t since(const struct objective *objective, double improvement,
                     const double *values, size_t count)
{
    struct tally tally;

    tally_init(&tally, improvement);
    for (size_t i = 0; i < count; i++)
        tally_add_result(&tally, objective, (int64_t)i + 1, (int64_t)i + 1,
                         values[i]);
    return tally.since_best;
}

#define SINCE(objective, improvement, ...)                                     \
    since(objective, improvement, (const double[]){__VA_ARGS__},               \
          sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void test_budget__improvement_is_relative(void **state)
{
    (void)state;
    assert_int_equal(SINCE(&minimize, 0.01, 100, 99.5), 1);
    assert_int_equal(SINCE(&minimize, 0.01, 100, 99), 0);
    assert_int_equal(SINCE(&minimize, 0, 100, 99.999), 0);
    assert_int_equal(SINCE(&minimize, 0, 100, 100), 1);
    assert_int_equal(SINCE(&maximize, 0.01, 100, 100.5, 101), 0);
    /* small steps add up, and a better result that is none is still best */
    assert_int_equal(SINCE(&minimize, 0.01, 100, 99.6, 99.2, 98.9), 0);
    assert_int_equal(SINCE(&minimize, 0.01, 100, 99.6, 99.2), 2);
    /* across and at 0 */
    assert_int_equal(SINCE(&minimize, 0.01, -100, -100.5), 1);
    assert_int_equal(SINCE(&minimize, 0.01, -100, -101), 0);
    assert_int_equal(SINCE(&minimize, 0.01, 0.001, -0.001), 0);
    assert_int_equal(SINCE(&minimize, 0.01, 0, -1e-300), 0);
    assert_int_equal(SINCE(&maximize, 0.5, 0, 0), 1);
}

/* Which results a run must count anew to do without one of them. */
static void test_budget__what_hangs_on_a_result(void **state)
{
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    tally_add_result(&tally, &minimize, 1, 1, 100);
    tally_add_result(&tally, &minimize, 2, 2, 200);
    tally_add_result(&tally, &minimize, 3, 3, 90);
    tally_add_result(&tally, &minimize, 4, 4, 95);
    tally_add_result(&tally, &minimize, 5, 5, 89.9);
    assert_int_equal(tally.since_best, 2);
    assert_true(tally_hangs_on(&tally, JOB_SUCCEEDED, false, 2, 2));
    assert_false(tally_hangs_on(&tally, JOB_SUCCEEDED, true, 2, 2));
    assert_false(tally_hangs_on(&tally, JOB_FAILED, false, 2, 2));
    assert_false(tally_hangs_on(&tally, JOB_SUCCEEDED, false, 4, 4));
    assert_true(tally_hangs_on(&tally, JOB_SUCCEEDED, false, 5, 5));
    tally.suggested = 7;
    tally.resource_used = 30;
    tally_forget(&tally);
    assert_int_equal(tally.suggested, 7);
    assert_int_equal(tally.resource_used, 30);
    assert_int_equal(tally_ended(&tally), 0);
    assert_true(tally.improvement == 0.01);
    assert_true(tally_add_result(&tally, &minimize, 6, 6, 1e9));
}

static void test_budget__resource(void **state)
{
    struct budget budget = {.trials = 10, .resource = 100};
    const struct budget without = {.trials = 10};
    struct tally tally;

    (void)state;
    tally_init(&tally, 0.01);
    tally.resource_used = 60;
    assert_int_equal(budget_resource_left(&budget, &tally, 27), 13);
    assert_true(budget_resource_left(&without, &tally, 27) == INT64_MAX);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally.resource_used = 100;
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0),
                     BUDGET_RESOURCE);
    assert_false(budget_verdict_ends_all(BUDGET_RESOURCE));
    assert_false(budget_verdict_ends_all(BUDGET_GO_ON));
    assert_true(budget_verdict_ends_all(BUDGET_TIME));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget__best_follows_the_goal),
        cmocka_unit_test(test_budget__what_is_not_finite_is_never_best),
        cmocka_unit_test(test_budget__limits),
        cmocka_unit_test(test_budget__target_of_a_maximum),
        cmocka_unit_test(test_budget__what_is_infeasible_is_no_improvement),
        cmocka_unit_test(test_budget__failures_in_all),
        cmocka_unit_test(test_budget__the_first_trials_all_failed),
        cmocka_unit_test(test_budget__a_verdict_is_found_by_its_text),
        cmocka_unit_test(test_budget__a_result_is_taken_back),
        cmocka_unit_test(test_budget__improvement_is_relative),
        cmocka_unit_test(test_budget__what_hangs_on_a_result),
        cmocka_unit_test(test_budget__resource),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
