/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/pareto_front.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const bool min_max[] = {false, true};

static void test_pareto_front__keeps_what_nothing_beats(void **state)
{
    struct pareto_front *front = pareto_front_create(min_max, 2);

    (void)state;
    assert_true(pareto_front_add(front, 1, (const double[]){2.0, 5.0}));
    assert_true(pareto_front_add(front, 2, (const double[]){3.0, 9.0}));
    assert_false(pareto_front_add(front, 3, (const double[]){2.0, 4.0}));
    assert_true(pareto_front_add(front, 4, (const double[]){2.0, 5.0}));
    assert_int_equal(pareto_front_count(front), 3);
    assert_true(pareto_front_add(front, 5, (const double[]){2.0, 6.0}));
    assert_int_equal(pareto_front_count(front), 2);
    assert_false(pareto_front_has(front, 1));
    assert_true(pareto_front_has(front, 2));
    assert_false(pareto_front_has(front, 4));
    assert_true(pareto_front_has(front, 5));
    pareto_front_destroy(front);
}

static void test_pareto_front__leaves_out_what_is_not_finite(void **state)
{
    struct pareto_front *front = pareto_front_create(min_max, 2);

    (void)state;
    assert_false(
        pareto_front_add(front, 1, (const double[]){(double)NAN, 5.0}));
    assert_false(
        pareto_front_add(front, 2, (const double[]){1.0, (double)INFINITY}));
    assert_false(
        pareto_front_add(front, 3, (const double[]){-(double)INFINITY, 1.0}));
    assert_int_equal(pareto_front_count(front), 0);
    pareto_front_destroy(front);
}

static void test_pareto_front__measures_its_volume(void **state)
{
    struct pareto_front *front = pareto_front_create(min_max, 2);
    double reference[2];

    (void)state;
    assert_true(isnan(pareto_front_hypervolume(front, reference)));
    pareto_front_add(front, 1, (const double[]){0.0, 0.0});
    pareto_front_add(front, 2, (const double[]){10.0, 10.0});
    assert_true(fabs(pareto_front_hypervolume(front, reference) - 21.0) < 1e-9);
    assert_true(fabs(reference[0] - 11.0) < 1e-9);
    assert_true(fabs(reference[1] + 1.0) < 1e-9);
    pareto_front_destroy(front);
}

static void test_pareto_front__a_large_one_has_no_volume(void **state)
{
    static const bool minimize[4];
    struct pareto_front *front = pareto_front_create(minimize, 4);
    double reference[4];

    (void)state;
    for (int i = 0; i < 100; i++)
        pareto_front_add(front, i + 1, (const double[]){i, -i, 0.0, 0.0});
    assert_int_equal(pareto_front_count(front), 100);
    assert_true(isnan(pareto_front_hypervolume(front, reference)));
    pareto_front_destroy(front);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pareto_front__keeps_what_nothing_beats),
        cmocka_unit_test(test_pareto_front__leaves_out_what_is_not_finite),
        cmocka_unit_test(test_pareto_front__measures_its_volume),
        cmocka_unit_test(test_pareto_front__a_large_one_has_no_volume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
