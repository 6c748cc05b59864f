/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "orchestrator/job/curve.h"

/* Half a million points, and what a record would hold of them: it is thinned as
 * store_thin_metric() does, but for extremes. */
enum { POINTS = 500000, LEAST_AT = 123457, MOST_AT = 333331 };

static int64_t recorded[CURVE_MAX_POINTS + 8];
static size_t count;

static void thin(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i += 2)
        recorded[kept++] = recorded[i];
    count = kept;
}

static double value_at(int64_t step)
{
    if (step == LEAST_AT)
        return -9;
    if (step == MOST_AT)
        return 9;
    return step % 1000 == 7 ? (double)NAN : sin((double)step);
}

static void add_all(struct job_curve *curve)
{
    curve_init(curve, "loss");
    count = 0;
    for (int64_t step = 0; step < POINTS; step++) {
        const struct metric_new point = {.step = step, .value = value_at(step)};

        if (!curve_take(curve, &point))
            continue;
        recorded[count++] = step;
        assert_true(count <= CURVE_MAX_POINTS);
        if (curve_thins(curve))
            thin();
    }
}

static void test_curve__keeps_an_even_spread(void **state)
{
    struct job_curve curve;

    (void)state;
    add_all(&curve);
    assert_in_range(count, CURVE_MAX_POINTS / 2, CURVE_MAX_POINTS);
    assert_int_equal(recorded[0], 0);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(recorded[i] - recorded[i - 1], curve.stride);
    assert_int_equal(curve.points, POINTS);
    curve_clear(&curve);
}

static void test_curve__holds_last_smallest_and_largest(void **state)
{
    struct job_curve curve;
    const struct metric_new *held;
    int64_t steps[3] = {0};
    size_t found = 0;

    (void)state;
    add_all(&curve);
    while ((held = curve_release(&curve)) != NULL) {
        assert_string_equal(held->name, "loss");
        assert_true(held->value == value_at(held->step));
        steps[found++] = held->step;
    }
    assert_int_equal(found, 3);
    assert_int_equal(steps[0], POINTS - 1);
    assert_int_equal(steps[1], LEAST_AT);
    assert_int_equal(steps[2], MOST_AT);
    assert_null(curve_release(&curve));
    curve_clear(&curve);
}

static void test_curve__short_ones_are_whole(void **state)
{
    struct job_curve curve;

    (void)state;
    curve_init(&curve, "loss");
    for (int64_t step = 1; step < CURVE_MAX_POINTS; step++) {
        assert_true(
            curve_take(&curve, &(struct metric_new){.step = step,
                                                    .value = (double)-step}));
        assert_false(curve_thins(&curve));
    }
    assert_null(curve_release(&curve));
    assert_true(curve.last == 1 - CURVE_MAX_POINTS);
    curve_clear(&curve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve__keeps_an_even_spread),
        cmocka_unit_test(test_curve__holds_last_smallest_and_largest),
        cmocka_unit_test(test_curve__short_ones_are_whole),
    };

    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
