/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/optim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "training/lr_schedule.h"
#include "training/models/params.h"

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
    params_begin_unit(&params);
    if (params_add(&params, "w", 1, 3, NULL) != 0)
        return -1;
    params_place(&params);
    return params_allocate(&params, &backend_cpu, NULL);
}

static int clear_params(void **state)
{
    params_clear(*state);
    return 0;
}

/* Steps from w = 1, 2, 3 with the gradient of w^2 / 2 times 1, 2, 3, which
 * is halved and doubled again. */
static void descend(struct optim *optim, struct params *params, int steps)
{
    real grads[3];
    const struct optim_span span = {params->values, grads, 0, 0, 3};

    for (int i = 0; i < 3; i++)
        params->values[i] = (real)(i + 1);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < 3; i++)
            grads[i] = params->values[i] * (real)(i + 1) / 2;
        assert_int_equal(optim_step(optim, &span, 0.1, 2, (uint64_t)step, NULL),
                         0);
    }
}

static void test_optim__sgd_follows_its_formula(void **state)
{
    const struct optim_settings settings = {SGD, 0.5, 0.25};
    struct params *params = *state;
    struct optim optim;

    assert_int_equal(optim_init(&optim, &settings, 3, &backend_cpu, NULL), 0);
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

    assert_int_equal(optim_init(&optim, &settings, 3, &backend_cpu, NULL), 0);
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

enum { CONSTANT, COSINE, STEP, WSD };
enum { NONE, LINEAR, SQRT };

/* At an epoch of 10, with steps of a tenth. */
static double factor(struct lr_schedule schedule, double epoch, double batch)
{
    schedule.end = 10;
    if (schedule.base_batch == 0)
        schedule.base_batch = 1;
    return lr_schedule_factor(&schedule, epoch, 0.1, batch);
}

static void test_optim__schedules_scale_the_rate(void **state)
{
    const struct lr_schedule constant = {.schedule = CONSTANT};
    const struct lr_schedule cosine = {.schedule = COSINE};
    const struct lr_schedule step = {
        .schedule = STEP, .decay_every = 3, .decay_factor = 0.1};
    const struct lr_schedule wsd = {.schedule = WSD, .decay_share = 0.2};

    (void)state;
    assert_string_equal(lr_schedule_names[CONSTANT], "constant");
    assert_string_equal(lr_schedule_names[COSINE], "cosine");
    assert_string_equal(lr_schedule_names[STEP], "step");
    assert_string_equal(lr_schedule_names[WSD], "wsd");
    assert_near(factor(constant, 7, 1), 1);
    assert_near(factor(cosine, 0, 1), 1);
    assert_near(factor(cosine, 5, 1), 0.5);
    assert_near(factor(cosine, 10, 1), 0);
    assert_near(factor(step, 2.9, 1), 1);
    assert_near(factor(step, 3, 1), 0.1);
    assert_near(factor(step, 8.9, 1), 0.01);
    assert_near(factor(wsd, 8, 1), 1);
    assert_near(factor(wsd, 9, 1), 0.5);
    assert_near(factor(wsd, 10, 1), 0);
}

static void test_optim__the_rate_warms_up(void **state)
{
    const struct lr_schedule alone = {.warmup = 2};
    const struct lr_schedule scaled = {
        .warmup = 2, .scaling = LINEAR, .base_batch = 64};
    const struct lr_schedule cosine = {.schedule = COSINE, .warmup = 2};

    (void)state;
    assert_near(factor(alone, 0, 1), 0.05);
    assert_near(factor(alone, 0.9, 1), 0.5);
    assert_near(factor(alone, 1.9, 1), 1);
    assert_near(factor(alone, 2, 1), 1);
    /* From that of the base batch to four times as much. */
    assert_near(factor(scaled, 0.9, 256), 2.5);
    assert_near(factor(scaled, 5, 256), 4);
    assert_near(factor(cosine, 1.9, 1), 1);
    assert_near(factor(cosine, 6, 1), 0.5);
}

static void test_optim__the_rate_goes_with_the_batch(void **state)
{
    const struct lr_schedule by_rule[] = {
        [NONE] = {.scaling = NONE, .base_batch = 64},
        [LINEAR] = {.scaling = LINEAR, .base_batch = 64},
        [SQRT] = {.scaling = SQRT, .base_batch = 64}};

    (void)state;
    assert_near(factor(by_rule[NONE], 1, 256), 1);
    assert_near(factor(by_rule[LINEAR], 1, 256), 4);
    assert_near(factor(by_rule[LINEAR], 1, 16), 0.25);
    assert_near(factor(by_rule[SQRT], 1, 256), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_optim__sgd_follows_its_formula,
                                        make_params, clear_params),
        cmocka_unit_test_setup_teardown(test_optim__adam_follows_its_formula,
                                        make_params, clear_params),
        cmocka_unit_test(test_optim__schedules_scale_the_rate),
        cmocka_unit_test(test_optim__the_rate_warms_up),
        cmocka_unit_test(test_optim__the_rate_goes_with_the_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
