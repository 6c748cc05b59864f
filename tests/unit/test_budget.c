/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "orchestrator/budget.h"

static const struct objective minimize = {.metric = "loss"};
static const struct objective maximize = {.metric = "gain", .maximize = true};

static void test_budget__best_follows_the_goal(void **state)
{
    static const double values[] = {3.0, 1.0, 2.0, 5.0, 1.0};
    struct tally low, high;

    (void)state;
    tally_init(&low);
    tally_init(&high);
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
    tally_init(&tally);
    assert_false(tally_add_result(&tally, &maximize, 1, 1, (double)INFINITY));
    assert_false(tally_add_result(&tally, &minimize, 2, 2, (double)-INFINITY));
    assert_false(tally_add_result(&tally, &minimize, 3, 3, (double)NAN));
    assert_int_equal(tally.best_trial, 0);
    assert_int_equal(tally.succeeded, 3);
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
    tally_init(&tally);
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
    tally_init(&tally);
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
    tally_init(&tally);
    tally_add_infeasible(&tally);
    assert_int_equal(tally.best_trial, 0);
    assert_int_equal(budget_check(&budget, &minimize, &tally, 0), BUDGET_GO_ON);
    tally_add_other(&tally, JOB_FAILED);
    tally_add_other(&tally, JOB_STOPPED);
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

/* As if it had never been added. */
static void test_budget__a_result_is_taken_back(void **state)
{
    struct tally tally;

    (void)state;
    tally_init(&tally);
    tally_add_other(&tally, JOB_FAILED); /* place 1 */
    tally_add_result(&tally, &minimize, 2, 2, 5.0);
    tally_add_other(&tally, JOB_FAILED);
    tally_add_infeasible(&tally);
    tally_add_other(&tally, JOB_STOPPED);
    tally_add_other(&tally, JOB_CANCELLED);
    assert_int_equal(tally.since_best, 2);
    tally_remove(&tally, JOB_FAILED, false, 1);
    assert_int_equal(tally.since_best, 2);
    tally_remove(&tally, JOB_FAILED, false, 3);
    tally_remove(&tally, JOB_SUCCEEDED, true, 4);
    tally_remove(&tally, JOB_STOPPED, false, 5);
    tally_remove(&tally, JOB_CANCELLED, false, 6);
    assert_int_equal(tally.since_best, 0);
    assert_int_equal(tally_ended(&tally), 1);
    assert_int_equal(tally.infeasible, 0);
    assert_int_equal(tally.best_trial, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget__best_follows_the_goal),
        cmocka_unit_test(test_budget__what_is_not_finite_is_never_best),
        cmocka_unit_test(test_budget__limits),
        cmocka_unit_test(test_budget__target_of_a_maximum),
        cmocka_unit_test(test_budget__what_is_infeasible_is_no_improvement),
        cmocka_unit_test(test_budget__a_result_is_taken_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
