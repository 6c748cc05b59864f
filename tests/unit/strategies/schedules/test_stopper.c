/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/schedules/scheduler.h"

/* Methods that watch each trial by itself: patient and threshold. */

enum { LENGTH = 8 };

static struct schedule_options make_options(const char *method)
{
    return (struct schedule_options){.method = method,
                                     .min = 1,
                                     .max = LENGTH,
                                     .patience = 3,
                                     .lower = (double)NAN,
                                     .upper = 1};
}

/* Runs one trial: where it was stopped, 0: never, and why. */
static uint64_t run_trial(const struct schedule_options *options,
                          const double *values, struct verdict *verdict)
{
    struct scheduler *scheduler = scheduler_create(options, NULL, NULL);
    struct assignment next;
    double best = (double)NAN;
    uint64_t at = 0;

    assert_non_null(scheduler);
    assert_false(scheduler_pauses(scheduler));
    scheduler_next(scheduler, false, &next);
    assert_int_equal(next.kind, NEXT_NEW);
    assert_int_equal(next.resource, LENGTH);
    scheduler_assign(scheduler, 1, &next);
    verdict->decision = DECIDE_CONTINUE;
    while (verdict->decision == DECIDE_CONTINUE && at < LENGTH) {
        struct observation observation = {.trial = 1, .resource = ++at};

        assert_int_equal(scheduler_awaits(scheduler, 1), at);
        observation.value = observation.last = values[at - 1];
        observation.best = best = fmin(best, values[at - 1]);
        scheduler_observe(scheduler, &observation, verdict);
        assert_int_equal(verdict->rung, -1);
    }
    assert_int_equal(scheduler_awaits(scheduler, 1) == UINT64_MAX,
                     at == LENGTH);
    scheduler_end(scheduler, 1, OUTCOME_STOPPED);
    assert_int_equal(scheduler_awaits(scheduler, 1), UINT64_MAX);
    scheduler_destroy(scheduler);
    return verdict->decision == DECIDE_STOP ? at : 0;
}

struct row {
    uint64_t min;
    double min_delta;
    double values[LENGTH];
    uint64_t stopped_at;
    const char *reason;
};

static void test_patient__stops_what_no_longer_improves(void **state)
{
    const double nan = (double)NAN;
    const struct row rows[] = {
        {1, 0, {8, 7, 6, 5, 4, 3, 2, 1}, 0, ""},
        {1,
         0,
         {5, 5, 5, 5, 1, 1, 1, 1},
         4,
         "the best at 4, 5, is not better than 5 at 1"},
        {1,
         0,
         {5, 4, 6, 6, 6, 1, 1, 1},
         5,
         "the best at 5, 4, is not better than 4 at 2"},
        {1, 0, {5, 4, 6, 6, 3, 6, 6, 6}, 0, ""}, /* at its end at 8 */
        {7,
         0,
         {5, 4, 6, 6, 6, 6, 6, 6},
         7,
         "the best at 7, 4, is not better than 4 at 2"},
        {1,
         0.5,
         {5, 4.5, 4.5, 4.5, 1, 1, 1, 1},
         4,
         "the best at 4, 4.5, is not more than 0.5 better than 5 at 1"},
        /* small steps add up */
        {1, 0.5, {5, 4.75, 4.5, 4.25, 4, 3.75, 3.5, 3.5}, 0, ""},
        {1,
         0,
         {nan, nan, nan, 1, 1, 1, 1, 1},
         3,
         "no value up to 3 is a number"},
        {1,
         0,
         {nan, nan, 3, nan, nan, nan, 1, 1},
         6,
         "the best at 6, 3, is not better than 3 at 3"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct schedule_options options = make_options("patient");
        struct verdict verdict;

        options.min = rows[i].min;
        options.min_delta = rows[i].min_delta;
        assert_int_equal(run_trial(&options, rows[i].values, &verdict),
                         rows[i].stopped_at);
        assert_string_equal(verdict.reason, rows[i].reason);
    }
}

static void test_threshold__stops_what_leaves_the_bounds(void **state)
{
    const double nan = (double)NAN, inf = (double)INFINITY;
    const struct {
        uint64_t min;
        double lower, upper;
        bool maximize;
        double values[LENGTH];
        uint64_t stopped_at;
        const char *reason;
    } rows[] = {
        {1, nan, 1, false, {1, 0, -9, 1, 1, 1, 1, 2}, 0, ""},
        {1, nan, 1, false, {1, 1.5}, 2, "1.5 at 2 is above 1"},
        {1, nan, 1, false, {1, inf}, 2, "inf at 2 is above 1"},
        {1, nan, 1, false, {nan}, 1, "the value at 1 is not a number"},
        {1, 0.5, nan, false, {9, 0.5, 0.25}, 3, "0.25 at 3 is below 0.5"},
        {3, 0.5, 1, false, {9, nan, 2}, 3, "2 at 3 is above 1"},
        {3, 0.5, 1, false, {9, nan, 1, 0.5, 1, 1, 1, nan}, 0, ""},
        /* an accuracy of at least 0.5, told as -0.5 at most */
        {1, nan, -0.5, true, {-0.6, -0.4}, 2, "0.4 at 2 is below 0.5"},
        {1, -0.9, -0.5, true, {-0.6, -1}, 2, "1 at 2 is above 0.9"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct schedule_options options = make_options("threshold");
        struct verdict verdict;

        options.min = rows[i].min;
        options.lower = rows[i].lower;
        options.upper = rows[i].upper;
        options.maximize = rows[i].maximize;
        assert_int_equal(run_trial(&options, rows[i].values, &verdict),
                         rows[i].stopped_at);
        assert_string_equal(verdict.reason, rows[i].reason);
    }
}

static void expect_error(const struct schedule_options *options,
                         const char *text)
{
    struct err err;

    assert_null(scheduler_create(options, NULL, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_string_equal(err.text, text);
}

static void test_stopper__refuses_options_without_sense(void **state)
{
    struct schedule_options options = make_options("patient");

    (void)state;
    options.patience = 0;
    expect_error(&options, "patience must be 1 or more");
    options.patience = 1;
    options.min_delta = -1;
    expect_error(&options, "min_delta must be 0 or more, not -1");
    options = make_options("threshold");
    options.lower = 2;
    expect_error(&options, "lower 2 is above upper 1");
    options.lower = options.upper = (double)NAN;
    expect_error(&options, "missing key: threshold needs lower, upper or both");
    options.lower = -0.25;
    options.upper = -0.75;
    options.maximize = true;
    expect_error(&options, "lower 0.75 is above upper 0.25");
}

static void test_stopper__plans_every_trial_to_the_end(void **state)
{
    static const char *const methods[] = {"median", "patient", "threshold"};
    struct schedule_plan plan;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct schedule_options options = make_options(methods[i]);

        assert_int_equal(schedule_plan_init(&plan, &options, 20, NULL), 0);
        assert_int_equal(plan.count, 1);
        assert_int_equal(plan.rungs[0].trials, 20);
        assert_int_equal(plan.rungs[0].resource, LENGTH);
        assert_int_equal(plan.trials, 20);
        assert_int_equal(plan.total_resource, 20 * LENGTH);
        assert_int_equal(plan.total_restarted, 20 * LENGTH);
        schedule_plan_clear(&plan);
    }
}

/* What it says of a trial depends on that trial alone, whichever others run
 * and in whatever order they come and go. */
static void test_stopper__keeps_trials_apart(void **state)
{
    enum { TRIALS = 300 };
    static const double values[] = {5, 4, 6, 6, 6, 6, 6, 6};
    struct schedule_options options = make_options("patient");
    struct scheduler *scheduler = scheduler_create(&options, NULL, NULL);
    uint64_t at[TRIALS + 1] = {0}, begun = 0, over = 0;
    struct assignment next;
    struct rng rng;

    (void)state;
    rng_init(&rng, 9, 1, 1);
    scheduler_next(scheduler, false, &next);
    while (over < TRIALS) {
        uint64_t trial = 1 + rng_below(&rng, begun + 1);
        struct observation observation = {.trial = trial};
        struct verdict verdict;

        if (trial > begun && begun < TRIALS)
            scheduler_assign(scheduler, ++begun, &next);
        if (trial > begun || at[trial] > LENGTH)
            continue;
        observation.resource = ++at[trial];
        observation.value = values[at[trial] - 1];
        observation.best = fmin(at[trial] > 1 ? 4 : 5, observation.value);
        scheduler_observe(scheduler, &observation, &verdict);
        assert_int_equal(verdict.decision,
                         at[trial] < 5 ? DECIDE_CONTINUE : DECIDE_STOP);
        if (at[trial] < 5)
            continue;
        scheduler_end(scheduler, trial, OUTCOME_STOPPED);
        at[trial] = LENGTH + 1;
        over++;
    }
    scheduler_next(scheduler, true, &next);
    assert_int_equal(next.kind, NEXT_NONE);
    scheduler_destroy(scheduler);
}

/* One that is put back runs outside of the schedule. */
static void test_stopper__leaves_others_alone(void **state)
{
    struct schedule_options options = make_options("threshold");
    struct scheduler *scheduler = scheduler_create(&options, NULL, NULL);
    struct observation observation = {.trial = 7, .resource = 1, .value = 9};
    struct verdict verdict;

    (void)state;
    assert_int_equal(scheduler_awaits(scheduler, 7), UINT64_MAX);
    scheduler_observe(scheduler, &observation, &verdict);
    assert_int_equal(verdict.decision, DECIDE_CONTINUE);
    scheduler_end(scheduler, 7, OUTCOME_COMPLETE);
    scheduler_destroy(scheduler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patient__stops_what_no_longer_improves),
        cmocka_unit_test(test_threshold__stops_what_leaves_the_bounds),
        cmocka_unit_test(test_stopper__refuses_options_without_sense),
        cmocka_unit_test(test_stopper__plans_every_trial_to_the_end),
        cmocka_unit_test(test_stopper__keeps_trials_apart),
        cmocka_unit_test(test_stopper__leaves_others_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
