/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/optim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "training/lr_schedule.h"
#include "training/params.h"

enum { SGD, ADAM };

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * (1 + fabs(expected))))
        fail_msg("%.9g is not near %.9g", value, expected);
}

static int make_params(void **state)
{
    static struct params params;

    *state = &params;
    return params_add(&params, "w", 1, 3, NULL) == 0
               ? params_allocate(&params, NULL)
               : -1;
}

static int clear_params(void **state)
{
    params_clear(*state);
    return 0;
}

/* Steps from w = 1, 2, 3 with the gradient of w^2 / 2 times 1, 2, 3. */
static void descend(struct optim *optim, struct params *params, int steps)
{
    for (int i = 0; i < 3; i++)
        params->values[i] = (real)(i + 1);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < 3; i++)
            params->grads[i] = params->values[i] * (real)(i + 1);
        optim_step(optim, params, 0.1, (uint64_t)step);
    }
}

static void test_optim__sgd_follows_its_formula(void **state)
{
    const struct optim_settings settings = {SGD, 0.5, 0.25};
    struct params *params = *state;
    struct optim optim;

    assert_int_equal(optim_init(&optim, &settings, params, NULL), 0);
    assert_int_equal(optim.moment_count, 1);
    descend(&optim, params, 3);
    for (int i = 0; i < 3; i++) {
        double w = i + 1, v = 0;

        for (int step = 0; step < 3; step++) {
            v = 0.5 * v + w * (i + 1) + 0.25 * w;
            w -= 0.1 * v;
        }
        assert_near((double)params->values[i], w);
    }
    optim_clear(&optim);
}

static void test_optim__adam_follows_its_formula(void **state)
{
    const struct optim_settings settings = {ADAM, 0.5, 0.25};
    struct params *params = *state;
    struct optim optim;

    assert_int_equal(optim_init(&optim, &settings, params, NULL), 0);
    assert_int_equal(optim.moment_count, 2);
    descend(&optim, params, 3);
    for (int i = 0; i < 3; i++) {
        double w = i + 1, m = 0, v = 0;

        for (int step = 1; step <= 3; step++) {
            double g = w * (i + 1);

            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            w -= 0.1 * 0.25 * w;
            w -= 0.1 * (m / (1 - pow(0.9, step))) /
                 (sqrt(v / (1 - pow(0.999, step))) + 1e-8);
        }
        /* 1 - 0.999 has 4 digits in a float. */
        assert_true(fabs((double)params->values[i] - w) < 1e-4);
    }
    optim_clear(&optim);
}

static void test_optim__schedules_scale_the_rate(void **state)
{
    (void)state;
    assert_string_equal(lr_schedule_names[0], "constant");
    assert_string_equal(lr_schedule_names[1], "cosine");
    assert_near(lr_schedule_factor(0, 7, 10), 1);
    assert_near(lr_schedule_factor(1, 0, 10), 1);
    assert_near(lr_schedule_factor(1, 5, 10), 0.5);
    assert_near(lr_schedule_factor(1, 10, 10), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_optim__sgd_follows_its_formula,
                                        make_params, clear_params),
        cmocka_unit_test_setup_teardown(test_optim__adam_follows_its_formula,
                                        make_params, clear_params),
        cmocka_unit_test(test_optim__schedules_scale_the_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
