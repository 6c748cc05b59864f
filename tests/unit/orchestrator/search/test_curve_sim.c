/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/curve_sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "strategies/schedules/scheduler.h"

enum { TRIALS = 9, LENGTH = 9 };

/* Trial i comes to i / 10 / unit, a second a unit; the first is the best. */
struct fixture {
    struct curve curves[TRIALS];
    struct curve_point points[TRIALS][LENGTH];
    struct curve_sim sim;
    struct curve_sim_result result;
};

static struct schedule_options options_of(const char *method,
                                          enum schedule_type type)
{
    return (struct schedule_options){
        .method = method,
        .seed = 1,
        .min = 1,
        .max = 9,
        .eta = 3,
        .type = type,
        .min_trials = 3,
        .rule = "sagemaker",
        .patience = 2,
        .lower = (double)NAN,
        .upper = (double)NAN,
    };
}

static void set_up(struct fixture *fixture, size_t parallel)
{
    for (size_t i = 0; i < TRIALS; i++) {
        for (size_t j = 0; j < LENGTH; j++)
            fixture->points[i][j] =
                (struct curve_point){j + 1, (double)(i + 1) / (double)(j + 1)};
        fixture->curves[i] = (struct curve){
            .number = (int64_t)i + 1,
            .points = fixture->points[i],
            .count = LENGTH,
            .end = CURVE_COMPLETE,
            .is_feasible = true,
            .resource = LENGTH,
            .seconds = LENGTH,
        };
    }
    fixture->sim = (struct curve_sim){
        .curves = fixture->curves,
        .count = TRIALS,
        .parallel = parallel,
        .has_checkpoints = true,
        .winner = 1,
    };
}

static void run(struct fixture *fixture, const struct schedule_options *options)
{
    struct scheduler *scheduler = scheduler_create(options, NULL, NULL);

    assert_non_null(scheduler);
    curve_sim_run(&fixture->sim, scheduler, &fixture->result);
    scheduler_destroy(scheduler);
}

static void test_curve_sim__promotes_the_best_third(void **state)
{
    struct schedule_options options = options_of("asha", SCHEDULE_PROMOTION);
    struct fixture fixture;
    const struct curve_sim_result *result = &fixture.result;

    (void)state;
    set_up(&fixture, 1);
    run(&fixture, &options);
    /* All nine to 1, the trials 1, 2 and 3 to 3, trial 1 to 9. */
    assert_int_equal(result->resource, 9 + 3 * 2 + 6);
    assert_true(result->seconds == 21.0);
    assert_true(result->elapsed == 21.0);
    assert_int_equal(result->counts[FATE_COMPLETE], 1);
    assert_int_equal(result->fate, FATE_COMPLETE);
    assert_int_equal(result->best, 1);
    assert_true(result->best_value == 1.0 / 9.0);
    assert_int_equal(result->best_resource, 9);
}

static void test_curve_sim__begins_again_without_checkpoints(void **state)
{
    struct schedule_options options = options_of("asha", SCHEDULE_PROMOTION);
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1);
    fixture.sim.has_checkpoints = false;
    run(&fixture, &options);
    assert_int_equal(fixture.result.resource, 9 + 3 * 3 + 9);
    assert_int_equal(fixture.result.fate, FATE_COMPLETE);
}

static void test_curve_sim__says_where_the_winner_was_lost(void **state)
{
    struct schedule_options options = options_of("asha", SCHEDULE_PROMOTION);
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1);
    fixture.points[8][LENGTH - 1].value = 0.0; /* the last wins in the end */
    fixture.sim.winner = 9;
    run(&fixture, &options);
    assert_int_equal(fixture.result.fate, FATE_STOPPED);
    assert_int_equal(fixture.result.fate_resource, 1);
    assert_int_equal(fixture.result.fate_rung, 0);
    assert_int_equal(fixture.result.best, 1);
}

static void test_curve_sim__stops_on_the_way(void **state)
{
    struct schedule_options options = options_of("asha", SCHEDULE_STOPPING);
    struct fixture fixture;
    const struct curve_sim_result *result = &fixture.result;

    (void)state;
    set_up(&fixture, 1);
    fixture.sim.winner = 9;
    run(&fixture, &options);
    assert_int_equal(result->fate, FATE_STOPPED);
    assert_int_equal(result->fate_resource, 1);
    assert_true(result->fate_reason[0] != '\0');
    assert_true(result->counts[FATE_STOPPED] > 0);
    assert_int_equal(
        result->counts[FATE_STOPPED] + result->counts[FATE_COMPLETE], TRIALS);
    assert_int_equal(result->best, 1);
}

static void test_curve_sim__counts_what_nobody_knows(void **state)
{
    struct schedule_options options = options_of("asha", SCHEDULE_PROMOTION);
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1);
    fixture.curves[0].count = fixture.curves[0].resource = 2;
    fixture.curves[0].seconds = 2.0;
    fixture.curves[0].end = CURVE_CUT;
    fixture.sim.winner = 2;
    run(&fixture, &options);
    assert_int_equal(fixture.result.counts[FATE_CUT], 1);
    assert_int_equal(fixture.result.fate, FATE_COMPLETE);
    assert_int_equal(fixture.result.best, 2);
    /* Trial 1 used 2, the best of the others went on. */
    assert_int_equal(fixture.result.resource, 9 + 1 + 2 * 2 + 6);
}

static void test_curve_sim__knows_failures_and_bounds(void **state)
{
    struct schedule_options options = options_of("asha", SCHEDULE_STOPPING);
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1);
    fixture.curves[0] =
        (struct curve){.number = 1, .end = CURVE_FAILED, .seconds = 5.0};
    fixture.curves[1].is_feasible = false;
    options.eta = 9; /* the rungs 1 and 9 */
    run(&fixture, &options);
    assert_int_equal(fixture.result.fate, FATE_FAILED);
    assert_int_equal(fixture.result.fate_resource, 0);
    assert_int_equal(fixture.result.counts[FATE_FAILED], 1);
    assert_true(fixture.result.best != 1 && fixture.result.best != 2);
    assert_true(fixture.result.seconds ==
                5.0 + (double)fixture.result.resource);
}

static void test_curve_sim__takes_the_best_or_the_last(void **state)
{
    struct schedule_options options = options_of("asha", SCHEDULE_PROMOTION);
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1);
    fixture.points[0][LENGTH - 1].value = 5.0;
    run(&fixture, &options);
    assert_true(fixture.result.best_value == 5.0);
    set_up(&fixture, 1);
    fixture.points[0][LENGTH - 1].value = 5.0;
    fixture.sim.takes_best = true;
    run(&fixture, &options);
    assert_true(fixture.result.best_value == 1.0 / 8.0);
}

static void test_curve_sim__is_quicker_with_more_at_a_time(void **state)
{
    struct schedule_options options = options_of("hyperband", 0);
    struct fixture fixture;
    double alone;

    (void)state;
    set_up(&fixture, 1);
    run(&fixture, &options);
    alone = fixture.result.elapsed;
    assert_true(alone == fixture.result.seconds);
    set_up(&fixture, 3);
    run(&fixture, &options);
    assert_true(fixture.result.elapsed < alone);
    assert_true(fixture.result.elapsed >= fixture.result.seconds / 3.0);
}

/* 10,000 curves of 30 points, 64 at a time. */
static void test_curve_sim__takes_many_trials(void **state)
{
    enum { MANY = 10000, POINTS = 30 };
    struct schedule_options options = options_of("asha", SCHEDULE_STOPPING);
    struct curve *curves = mem_array(MANY, sizeof(*curves));
    struct curve_point *points =
        mem_array((size_t)MANY * POINTS, sizeof(*points));
    struct fixture fixture = {
        .sim = {
            .curves = curves, .count = MANY, .parallel = 64, .winner = MANY}};

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        struct curve_point *own = points + i * POINTS;

        for (size_t j = 0; j < POINTS; j++)
            own[j] = (struct curve_point){j + 1, (double)(i * 7919 % MANY) /
                                                     (double)(j + 1)};
        curves[i] = (struct curve){.number = (int64_t)i + 1,
                                   .points = own,
                                   .count = POINTS,
                                   .is_feasible = true,
                                   .resource = POINTS,
                                   .seconds = 1.0 + (double)(i % 13)};
    }
    options.max = POINTS;
    for (int i = 0; i < 3; i++) {
        static const char *const methods[] = {"asha", "hyperband", "median"};

        options.method = methods[i];
        run(&fixture, &options);
        assert_true(fixture.result.resource < (uint64_t)MANY * POINTS);
        assert_int_equal(fixture.result.best, 1);
    }
    free(curves);
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve_sim__promotes_the_best_third),
        cmocka_unit_test(test_curve_sim__begins_again_without_checkpoints),
        cmocka_unit_test(test_curve_sim__says_where_the_winner_was_lost),
        cmocka_unit_test(test_curve_sim__stops_on_the_way),
        cmocka_unit_test(test_curve_sim__counts_what_nobody_knows),
        cmocka_unit_test(test_curve_sim__knows_failures_and_bounds),
        cmocka_unit_test(test_curve_sim__takes_the_best_or_the_last),
        cmocka_unit_test(test_curve_sim__is_quicker_with_more_at_a_time),
        cmocka_unit_test(test_curve_sim__takes_many_trials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
