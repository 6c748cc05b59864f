/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/count.h"

static void test_count__sums_that_do_not_fit_are_the_nearest(void **state)
{
    static const struct {
        int64_t a, b, sum, difference;
    } cases[] = {
        {1, 2, 3, -1},
        {INT64_MAX, 0, INT64_MAX, INT64_MAX},
        {INT64_MAX, 1, INT64_MAX, INT64_MAX - 1},
        {INT64_MAX, INT64_MAX, INT64_MAX, 0},
        {INT64_MIN, -1, INT64_MIN, INT64_MIN + 1},
        {INT64_MIN, 1, INT64_MIN + 1, INT64_MIN},
        {INT64_MIN, INT64_MIN, INT64_MIN, 0},
        {0, INT64_MIN, INT64_MIN, INT64_MAX},
        {-2, INT64_MAX, INT64_MAX - 2, INT64_MIN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(count_add(cases[i].a, cases[i].b), cases[i].sum);
        assert_int_equal(count_subtract(cases[i].a, cases[i].b),
                         cases[i].difference);
    }
}

static void test_count__products_that_do_not_fit_are_the_nearest(void **state)
{
    static const struct {
        int64_t a, b, product;
    } cases[] = {
        {-3, 4, -12},
        {INT64_MAX, 1, INT64_MAX},
        {INT64_MAX, 1024, INT64_MAX},
        {INT64_MAX, -2, INT64_MIN},
        {INT64_MIN, -1, INT64_MAX},
        {INT64_MIN, 2, INT64_MIN},
        {INT64_MAX, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(count_times(cases[i].a, cases[i].b), cases[i].product);
}

static void test_count__other_types_are_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(count_to_int(7), 7);
    assert_int_equal(count_to_int(INT64_C(1) << 31), INT_MAX);
    assert_int_equal(count_to_int(INT64_MIN), INT_MIN);
    assert_int_equal(count_of(7), 7);
    assert_int_equal(count_of(UINT64_MAX), INT64_MAX);
}

static void test_count__sound_ones_stand_a_thousandfold(void **state)
{
    (void)state;
    assert_true(count_is_sound(COUNT_MAX));
    assert_true(count_is_sound(-COUNT_MAX));
    assert_false(count_is_sound(COUNT_MAX + 1));
    assert_false(count_is_sound(INT64_MIN));
    assert_int_equal(count_times(COUNT_MAX, 1000) / 1000, COUNT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count__sums_that_do_not_fit_are_the_nearest),
        cmocka_unit_test(test_count__products_that_do_not_fit_are_the_nearest),
        cmocka_unit_test(test_count__other_types_are_the_nearest),
        cmocka_unit_test(test_count__sound_ones_stand_a_thousandfold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
