/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "orchestrator/spec/experiment/outcome.h"
#include "store/store.h"

static const struct outcome_bounds outcomes[] = {
    {"latency_ms", -(double)INFINITY, 20.0},
    {"recall", 0.5, (double)INFINITY},
    {"size", 1.0, 2.0},
};

enum { OUTCOMES = 3, BOUNDS = 4 };

static void test_outcome__each_bound_is_a_constraint(void **state)
{
    const double values[OUTCOMES] = {25.0, 0.75, 1.5};
    double excess[BOUNDS];

    (void)state;
    assert_int_equal(outcome_bound_count(outcomes, OUTCOMES), BOUNDS);
    outcome_excess(outcomes, OUTCOMES, values, excess);
    assert_true(excess[0] == 5.0);
    assert_true(excess[1] == -0.25);
    assert_true(excess[2] == -0.5);
    assert_true(excess[3] == -0.5);
}

static void test_outcome__violations_add_up(void **state)
{
    (void)state;
    assert_true(outcome_violation(outcomes, OUTCOMES,
                                  (const double[]){20.0, 0.5, 1.0}) == 0.0);
    assert_true(outcome_violation(outcomes, OUTCOMES,
                                  (const double[]){25.0, 0.25, 1.5}) == 5.25);
    assert_true(outcome_violation(outcomes, OUTCOMES,
                                  (const double[]){0.0, 1.0, 2.5}) == 0.5);
}

static void test_outcome__what_is_not_known_is_not_feasible(void **state)
{
    (void)state;
    assert_true(isinf(outcome_violation(
        outcomes, OUTCOMES, (const double[]){1.0, (double)NAN, 1.0})));
    assert_true(isinf(outcome_violation(outcomes, OUTCOMES, NULL)));
    assert_true(outcome_violation(outcomes, 0, NULL) == 0.0);
    assert_true(outcome_violation(outcomes, 1,
                                  (const double[]){-(double)INFINITY}) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome__each_bound_is_a_constraint),
        cmocka_unit_test(test_outcome__violations_add_up),
        cmocka_unit_test(test_outcome__what_is_not_known_is_not_feasible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
