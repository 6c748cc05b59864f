/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/gp/acquisition_impl.h"
#include "strategies/gp/boxes.h"
#include "strategies/history/hypervolume.h"

/* Boxes against hypervolumes, and the expected improvement that is made of them
 * against draws. */

enum { FRONT_MAX = 40 };

static const double reference[BOXES_OBJECTIVES_MAX] = {1, 1.5, 1.2};

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Some are dominated, some equal, some beyond the reference. */
static void draw_front(uint64_t seed, size_t count, size_t m, double *values)
{
    struct rng rng;

    rng_init(&rng, seed, m, 0);
    for (size_t i = 0; i < count * m; i++)
        values[i] = 0.05 * (double)(1 + rng_below(&rng, 26));
}

static bool is_dominated(const double *point, const double *values,
                         size_t count, size_t m)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (k < m && values[i * m + k] <= point[k])
            k++;
        if (k == m)
            return true;
    }
    return false;
}

static size_t count_around(const struct boxes *boxes, const double *point,
                           size_t m)
{
    size_t around = 0;

    for (size_t i = 0; i < boxes->count; i++) {
        const struct box *box = &boxes->list[i];
        size_t k = 0;

        while (k < m && point[k] > boxes->edges[k][box->low[k]] &&
               point[k] < boxes->edges[k][box->high[k]])
            k++;
        around += k == m;
    }
    return around;
}

/* Of all boxes, above 0. */
static double volume_of(const struct boxes *boxes, size_t m)
{
    double sum = 0;

    for (size_t i = 0; i < boxes->count; i++) {
        double volume = 1;

        for (size_t k = 0; k < m; k++)
            volume *= boxes->edges[k][boxes->list[i].high[k]] -
                      fmax(boxes->edges[k][boxes->list[i].low[k]], 0);
        sum += volume;
    }
    return sum;
}

static void test_boxes__are_what_the_front_leaves(void **state)
{
    double values[FRONT_MAX * BOXES_OBJECTIVES_MAX];
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, 1, 1);
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t m = 2 + seed % 2, count = seed / 2 % FRONT_MAX;
        double whole = 1, point[BOXES_OBJECTIVES_MAX];
        struct boxes boxes;

        draw_front(seed, count, m, values);
        boxes_split(&boxes, values, count, m, reference);
        assert_true(boxes.count <= (m == 2 ? 1 : 2) * count + 1);
        for (size_t k = 0; k < m; k++)
            whole *= reference[k];
        assert_near(volume_of(&boxes, m),
                    whole - hypervolume(values, count, m, reference), 1e-12);
        for (int i = 0; i < 20; i++) {
            for (size_t k = 0; k < m; k++)
                point[k] = (1.2 * rng_uniform(&rng) - 0.2) * reference[k];
            assert_int_equal(count_around(&boxes, point, m),
                             !is_dominated(point, values, count, m));
        }
        boxes_clear(&boxes);
    }
}

static double normal(struct rng *rng)
{
    double radius = sqrt(-2 * log1p(-rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

/* By draws, and the mean's standard error. */
static double draw_improvement(const double *values, size_t count, size_t m,
                               const struct outlook *outlook, double *error)
{
    enum { DRAWS = 4000 };
    double more[(FRONT_MAX + 1) * BOXES_OBJECTIVES_MAX];
    double before = hypervolume(values, count, m, reference);
    double sum = 0, squares = 0;
    struct rng rng;

    rng_init(&rng, 5, 1, 2);
    memcpy(more, values, count * m * sizeof(*more));
    for (int i = 0; i < DRAWS; i++) {
        double gain;

        for (size_t k = 0; k < m; k++)
            more[count * m + k] =
                outlook[k].mean + outlook[k].deviation * normal(&rng);
        gain = hypervolume(more, count + 1, m, reference) - before;
        sum += gain / DRAWS;
        squares += gain * gain / DRAWS;
    }
    *error = sqrt((squares - sum * sum) / DRAWS);
    return sum;
}

static void test_boxes__expected_improvement_is_that_of_draws(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        double values[FRONT_MAX * BOXES_OBJECTIVES_MAX], expected, error;
        size_t m = 2 + seed % 2, count = seed % 12;
        struct outlook outlook[BOXES_OBJECTIVES_MAX];
        struct boxes boxes;
        struct rng rng;

        draw_front(seed, count, m, values);
        rng_init(&rng, seed, 1, 3);
        for (size_t k = 0; k < m; k++)
            outlook[k] =
                (struct outlook){.mean = 1.2 * rng_uniform(&rng),
                                 .deviation = 0.02 + 0.5 * rng_uniform(&rng)};
        expected = draw_improvement(values, count, m, outlook, &error);
        boxes_split(&boxes, values, count, m, reference);
        assert_near(exp(acquisition_volume(&boxes, m, outlook)), expected,
                    5 * error + 1e-4);
        boxes_clear(&boxes);
    }
}

/* By central differences; also where the improvement is zero to all digits. */
static void test_boxes__slopes_are_right_everywhere(void **state)
{
    static const double means[] = {-3, 0.3, 0.9, 4, 60};
    double values[20 * BOXES_OBJECTIVES_MAX];
    struct boxes boxes;

    (void)state;
    for (size_t m = 2; m <= 3; m++) {
        draw_front(m, 20, m, values);
        boxes_split(&boxes, values, 20, m, reference);
        for (size_t i = 0; i < 2 * m * 5; i++) {
            struct outlook at[BOXES_OBJECTIVES_MAX], copy[3];
            double *cell, by, step = 1e-6, above, below;

            for (size_t k = 0; k < m; k++)
                at[k] = (struct outlook){.mean = means[(i + k) % 5],
                                         .deviation = 0.1};
            memcpy(copy, at, sizeof(copy));
            assert_true(isfinite(acquisition_volume(&boxes, m, copy)));
            by = i % 2 == 0 ? copy[i / 2 % m].by_mean
                            : copy[i / 2 % m].by_deviation;
            cell = i % 2 == 0 ? &at[i / 2 % m].mean : &at[i / 2 % m].deviation;
            *cell += step;
            memcpy(copy, at, sizeof(copy));
            above = acquisition_volume(&boxes, m, copy);
            *cell -= 2 * step;
            memcpy(copy, at, sizeof(copy));
            below = acquisition_volume(&boxes, m, copy);
            assert_near((above - below) / (2 * step), by,
                        1e-4 * (1 + fabs(by)));
        }
        boxes_clear(&boxes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes__are_what_the_front_leaves),
        cmocka_unit_test(test_boxes__expected_improvement_is_that_of_draws),
        cmocka_unit_test(test_boxes__slopes_are_right_everywhere),
    };

    return cmocka_run_group_tests_name("boxes", tests, NULL, NULL);
}
