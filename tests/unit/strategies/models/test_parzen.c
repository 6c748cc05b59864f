/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/fast_math.h"
#include "strategies/models/parzen.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

static void test_fast_math__is_as_exact_as_it_says(void **state)
{
    (void)state;
    for (double x = -86; x <= 0; x += 0.0137)
        assert_true(fabs((double)fast_exp((float)x) / exp((double)(float)x) -
                         1) < 1e-6);
    assert_true((double)fast_exp(-1e30f) < 1e-37);
    for (double x = 1e-30; x < 1e30; x *= 1.37)
        assert_true(fabs((double)fast_log((float)x) - log((double)(float)x)) <=
                    1e-6 * fmax(1, fabs(log(x))));
    for (double x = 0; x < 20; x += 0.01)
        assert_true(fabs((double)fast_erf((float)x) - erf(x)) < 1e-6);
}

/* Three kernels around points of chance, one of them with every second axis
 * inactive, and the even one. */
static struct parzen *mix(const struct axes *axes, double width, uint64_t seed)
{
    struct parzen *parzen = parzen_create(axes);
    double *widths = calloc(axes->count, sizeof(*widths));
    float *point = calloc(axes->count, sizeof(*point));
    struct rng rng;

    rng_init(&rng, seed, 0, 0);
    for (size_t i = 0; i < axes->count; i++)
        widths[i] = width;
    parzen_begin(parzen, widths);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < axes->count; i++)
            point[i] = (float)axis_snap(&axes->list[i], rng_uniform(&rng));
        for (size_t i = 0; k == 2 && i < axes->count; i += 2)
            point[i] = NAN;
        parzen_add(parzen, point, 1 + k);
    }
    parzen_add(parzen, NULL, 0.5);
    parzen_end(parzen);
    free(widths);
    free(point);
    return parzen;
}

static double density(const struct parzen *parzen, const float *point)
{
    float log_density;

    parzen_log_densities(parzen, point, 1, &log_density);
    return exp((double)log_density);
}

enum { CELLS = 4000 };

/* The integral over axis `index` of the density of that axis alone. */
static double integrate(const struct parzen *parzen, const struct axes *axes,
                        size_t index)
{
    float *point = calloc(axes->count, sizeof(*point));
    double sum = 0;

    for (size_t i = 0; i < axes->count; i++)
        point[i] = NAN;
    for (int c = 0; c < CELLS; c++) {
        point[index] = (float)axis_snap(&axes->list[index], (c + 0.5) / CELLS);
        sum += density(parzen, point) / CELLS;
    }
    free(point);
    return sum;
}

static void test_parzen__integrates_to_one_along_every_axis(void **state)
{
    static const double widths[] = {0.01, 0.1, 0.5, 1};
    struct space *space = spec_build(&specs[1], env); /* mixed */
    struct axes axes;

    (void)state;
    axes_init(&axes, space);
    assert_int_equal(axes.count, specs[1].param_count - 1); /* one is const */
    for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
        struct parzen *parzen = mix(&axes, widths[w], w);

        for (size_t i = 0; i < axes.count; i++)
            if (fabs(integrate(parzen, &axes, i) - 1) > 0.002)
                fail_msg("axis %zu, width %g: %g", i, widths[w],
                         integrate(parzen, &axes, i));
        parzen_destroy(parzen);
    }
    axes_clear(&axes);
    space_destroy(space);
}

/* Products of axes included: the mean of 1 / density over draws from a density
 * is the volume of the cube. */
static void test_parzen__draws_what_it_says(void **state)
{
    enum { DRAWS = 20000 };

    (void)state;
    for (size_t s = 0; s < 2; s++) {
        struct space *space = spec_build(&specs[s], env);
        struct axes axes;
        struct parzen *parzen;
        float point[16];
        double volume = 0;
        struct rng rng;

        axes_init(&axes, space);
        parzen = mix(&axes, 0.2, s);
        rng_init(&rng, 5, 0, 0);
        for (int i = 0; i < DRAWS; i++) {
            parzen_draw(parzen, &rng, point);
            for (size_t k = 0; k < axes.count; k++)
                assert_true(point[k] >= 0 && point[k] <= 1);
            volume += 1 / density(parzen, point) / DRAWS;
        }
        if (fabs(volume - 1) > 0.05)
            fail_msg("%s: %g", specs[s].name, volume);
        parzen_destroy(parzen);
        axes_clear(&axes);
        space_destroy(space);
    }
}

/* Also over several blocks of kernels: it is the mixture of its parts. */
static void test_parzen__many_kernels_are_their_mean(void **state)
{
    enum { KERNELS = 150 };
    struct space *space = spec_build(&specs[0], env);
    double widths[4] = {0.1, 0.2, 0.05, 0.3}, mean = 0;
    float points[KERNELS][4], at[4] = {0.3f, 0.6f, 0.5f, 0.9f};
    struct parzen *one, *all;
    struct axes axes;
    struct rng rng;

    (void)state;
    axes_init(&axes, space);
    one = parzen_create(&axes);
    all = parzen_create(&axes);
    rng_init(&rng, 9, 0, 0);
    parzen_begin(all, widths);
    for (int k = 0; k < KERNELS; k++) {
        for (int i = 0; i < 4; i++)
            points[k][i] = (float)rng_uniform(&rng);
        parzen_add(all, points[k], 2);
        parzen_begin(one, widths);
        parzen_add(one, points[k], 7);
        parzen_end(one);
        mean += density(one, at) / KERNELS;
    }
    parzen_end(all);
    assert_true(fabs(density(all, at) / mean - 1) < 1e-4);
    parzen_destroy(one);
    parzen_destroy(all);
    axes_clear(&axes);
    space_destroy(space);
}

static void test_axes__snap_to_the_values_of_the_parameter(void **state)
{
    struct space *space = spec_build(&specs[1], env);
    struct axes axes;

    (void)state;
    axes_init(&axes, space);
    for (size_t i = 0; i < axes.count; i++) {
        const struct param *param = space_param(space, axes.list[i].param);

        for (double u = 0.0005; u < 1; u += 0.001) {
            struct value value = param_from_unit(param, u);
            double middle = param_to_unit(param, &value);

            if (axes.list[i].kind != AXIS_CONTINUUM &&
                fabs(axis_snap(&axes.list[i], u) - middle) > 1e-9)
                fail_msg("%s: %g", param->name, u);
        }
    }
    axes_clear(&axes);
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_math__is_as_exact_as_it_says),
        cmocka_unit_test(test_parzen__integrates_to_one_along_every_axis),
        cmocka_unit_test(test_parzen__draws_what_it_says),
        cmocka_unit_test(test_parzen__many_kernels_are_their_mean),
        cmocka_unit_test(test_axes__snap_to_the_values_of_the_parameter),
    };

    return cmocka_run_group_tests_name("parzen", tests, open_env, close_env);
}
