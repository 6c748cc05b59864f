/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/schedules/running_median.h"
#include "strategies/schedules/scheduler.h"

enum { LENGTH = 5, SKIPPED = -1000 };

static struct scheduler *make(const char *rule, uint64_t min_trials,
                              uint64_t max)
{
    struct schedule_options options = {.method = "median",
                                       .min = 1,
                                       .max = max,
                                       .eta = 3,
                                       .rule = rule,
                                       .min_trials = min_trials};
    struct scheduler *scheduler = scheduler_create(&options, NULL, NULL);

    assert_non_null(scheduler);
    return scheduler;
}

static void begin(struct scheduler *scheduler, uint64_t trial)
{
    struct assignment next;

    scheduler_next(scheduler, false, &next);
    assert_int_equal(next.kind, NEXT_NEW);
    scheduler_assign(scheduler, trial, &next);
}

static struct verdict observe(struct scheduler *scheduler, uint64_t trial,
                              uint64_t resource, double value, double best)
{
    struct observation observation = {.trial = trial,
                                      .resource = resource,
                                      .value = value,
                                      .last = value,
                                      .best = best};
    struct verdict verdict;

    assert_true(scheduler_awaits(scheduler, trial) <= resource);
    scheduler_observe(scheduler, &observation, &verdict);
    return verdict;
}

/* Where it was stopped (0: it has completed), and why. */
static uint64_t run_trial(struct scheduler *scheduler, uint64_t trial,
                          const double *values, size_t count, char *reason)
{
    double best = (double)NAN;

    begin(scheduler, trial);
    for (size_t i = 0; i < count; i++) {
        struct verdict verdict;

        if (values[i] == SKIPPED)
            continue;
        best = fmin(best, values[i]);
        verdict = observe(scheduler, trial, i + 1, values[i], best);
        if (verdict.decision == DECIDE_CONTINUE)
            continue;
        assert_int_equal(verdict.decision, DECIDE_STOP);
        memcpy(reason, verdict.reason, sizeof(verdict.reason));
        scheduler_end(scheduler, trial, OUTCOME_STOPPED);
        return i + 1;
    }
    scheduler_end(scheduler, trial, OUTCOME_COMPLETE);
    return 0;
}

struct row {
    double values[LENGTH];
    uint64_t stopped_at; /* 0: never */
    const char *reason;
};

static void run_table(struct scheduler *scheduler, const struct row *rows,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char reason[160] = "";

        assert_int_equal(
            run_trial(scheduler, i + 1, rows[i].values, LENGTH, reason),
            rows[i].stopped_at);
        assert_string_equal(reason, rows[i].reason ? rows[i].reason : "");
    }
    scheduler_destroy(scheduler);
}

/* Each row is one trial, run when those above it are over. */
static void test_median__stops_by_the_sagemaker_rule(void **state)
{
    static const struct row rows[] = {
        {{5, 4, 3, 2, 1}, 0, NULL}, /* averages 5, 4.5, 4, 3.5, 3 */
        {{6, 1, 1, 1, 1},
         1,
         "6 at 1 is worse than 5, the median of the running averages of 1 "
         "trial"},
        {{5, 5, 1, 1, 1},
         2,
         "5 at 2 is worse than 4.5, the median of the running averages of 1 "
         "trial"},
        {{4, 4, 4, 3.6, 1}, /* equal to the median is not worse */
         4,
         "3.6 at 4 is worse than 3.5, the median of the running averages of 1 "
         "trial"},
        {{3, 3, 3, 3, 3}, 0, NULL}, /* medians 4, 3.75, 3.5, 3.25 */
        {{4, 3.75, 3.6, 1, 1},
         3,
         "3.6 at 3 is worse than 3.5, the median of the running averages of 2 "
         "trials"},
        {{4, 3.75, 3.5, 3.25, 9}, 0, NULL}, /* at its end it may be bad */
        /* averages 4, 3.875, 3.75, 3.625; medians 4, 3.875, 3.75, 3.5 */
        {{1, 1, 1, 3.51, 1},
         4,
         "3.51 at 4 is worse than 3.5, the median of the running averages of "
         "3 trials"},
        {{(double)NAN, 1, 1, 1, 1},
         1,
         "nan at 1 is worse than 4, the median of the running averages of 3 "
         "trials"},
    };

    (void)state;
    run_table(make("sagemaker", 0, LENGTH), rows, ARRAY_LEN(rows));
}

static void test_median__stops_by_the_vizier_rule(void **state)
{
    static const struct row rows[] = {
        {{5, 4, 3, 2, 1}, 0, NULL},
        {{9, 9, 9, 9, 3}, 0, NULL}, /* not before there are two */
        /* averages 9, 9, 9, 9; medians 7, 6.75, 6.5, 6.25 */
        {{6.75, 9, 6.75, 9, 9},
         3,
         "the best value 6.75 at 3 is worse than 6.5, the median of the "
         "running "
         "averages of 2 trials"},
        {{6.25, 9, 9, 9, 9}, 0, NULL},
        /* averages 6.25, 7.625, 8.083, 8.3125; medians 6.25, 7.625 ... */
        {{(double)NAN, 6.26, 9, 9, 9},
         1,
         "the best value nan at 1 is worse than 6.25, the median of the "
         "running "
         "averages of 3 trials"},
        {{6, (double)NAN, 9, 9, 9}, 0, NULL},
    };

    (void)state;
    run_table(make("vizier", 2, LENGTH), rows, ARRAY_LEN(rows));
}

/* What a curve has not reported does not count, or is carried over. */
static void test_median__takes_curves_as_they_are(void **state)
{
    static const struct row rows[] = {
        {{4, 4, 4, 4, 4}, 0, NULL},
        {{SKIPPED, SKIPPED, 2, 2, 2}, 0, NULL}, /* counts from 3 on */
        {{4, 4.1, 1, 1, 1},
         2,
         "4.1 at 2 is worse than 4, the median of the running averages of 1 "
         "trial"},
        {{4, 4, 3.1, 1, 1},
         3,
         "3.1 at 3 is worse than 3, the median of the running averages of 2 "
         "trials"},
        {{1, SKIPPED, SKIPPED, 2, 3}, 0, NULL}, /* averages 1, 1, 1, 1.5 */
        {{2.5, 2.6, 1, 1, 1},
         2,
         "2.6 at 2 is worse than 2.5, the median of the running averages of 2 "
         "trials"},
        {{1, 1, SKIPPED, 2.1, 1}, /* of 4, 2 and 1.5 */
         4,
         "2.1 at 4 is worse than 2, the median of the running averages of 3 "
         "trials"},
        {{2, SKIPPED, SKIPPED, SKIPPED, SKIPPED}, 0, NULL}, /* for 1 only */
        {{1, 2.51, 1, 1, 1},
         2,
         "2.51 at 2 is worse than 2.5, the median of the running averages of "
         "2 trials"},
        {{SKIPPED, SKIPPED, SKIPPED, SKIPPED, SKIPPED}, 0, NULL},
    };

    (void)state;
    run_table(make("sagemaker", 1, LENGTH), rows, ARRAY_LEN(rows));
}

/* An average over a NaN is worst, and no worse than another one. */
static void test_median__counts_nan_as_worst(void **state)
{
    const double nan = (double)NAN;
    const struct row rows[] = {
        {{1, nan, 1, 1, 1}, 0, NULL},
        {{1, nan, nan, 9, 9}, 0, NULL},
        {{1, 1, 1, 1, 1}, 0, NULL},
        {{1, 99, nan, 9, 9}, 0, NULL}, /* the middle one is worst */
        {{nan, 1, 1, 1, 1},
         1,
         "nan at 1 is worse than 1, the median of the running averages of 4 "
         "trials"},
    };

    (void)state;
    run_table(make("sagemaker", 1, LENGTH), rows, ARRAY_LEN(rows));
}

static void test_median__counts_completed_trials_alone(void **state)
{
    static const enum trial_outcome others[] = {OUTCOME_FAILED, OUTCOME_STOPPED,
                                                OUTCOME_CANCELLED};
    struct scheduler *scheduler = make("sagemaker", 1, LENGTH);
    uint64_t trial = 1;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(others); i++, trial++) {
        begin(scheduler, trial);
        observe(scheduler, trial, 1, 0.1, 0.1);
        scheduler_end(scheduler, trial, others[i]);
    }
    begin(scheduler, trial);
    observe(scheduler, trial, 1, 0.1, 0.1); /* and still runs */
    begin(scheduler, trial + 1);
    assert_int_equal(observe(scheduler, trial + 1, 1, 9, 9).decision,
                     DECIDE_CONTINUE);
    scheduler_end(scheduler, trial, OUTCOME_COMPLETE);
    begin(scheduler, trial + 2);
    assert_int_equal(observe(scheduler, trial + 2, 1, 9, 9).decision,
                     DECIDE_STOP);
    scheduler_destroy(scheduler);
}

static void test_median__waits_for_min_and_for_trials(void **state)
{
    struct schedule_options options = {.method = "median",
                                       .min = 3,
                                       .max = LENGTH,
                                       .eta = 3,
                                       .rule = "vizier"};
    static const double good[LENGTH] = {1, 1, 1, 1, 1};
    static const double bad[LENGTH] = {9, 9, 9, 9, 9};
    struct scheduler *scheduler = scheduler_create(&options, NULL, NULL);
    char reason[160];

    (void)state;
    for (uint64_t trial = 1; trial <= 4; trial++)
        run_trial(scheduler, trial, good, LENGTH, reason);
    assert_int_equal(run_trial(scheduler, 5, bad, LENGTH, reason), 0);
    assert_int_equal(run_trial(scheduler, 6, bad, LENGTH, reason), 3);
    scheduler_destroy(scheduler);
}

static void test_median__shows_values_as_the_user_knows_them(void **state)
{
    struct schedule_options options = {.method = "median",
                                       .min = 1,
                                       .max = LENGTH,
                                       .eta = 3,
                                       .maximize = true};
    static const double good[LENGTH] = {-0.9, -0.9, -0.9, -0.9, -0.9};
    static const double bad[LENGTH] = {-0.5, -0.5, -0.5, -0.5, -0.5};
    struct scheduler *scheduler = scheduler_create(&options, NULL, NULL);
    char reason[160];

    (void)state;
    run_trial(scheduler, 1, good, LENGTH, reason);
    assert_int_equal(run_trial(scheduler, 2, bad, LENGTH, reason), 1);
    assert_string_equal(reason,
                        "0.5 at 1 is worse than 0.9, the median of the running "
                        "averages of 1 trial");
    scheduler_destroy(scheduler);
}

static void test_median__refuses_an_unknown_rule(void **state)
{
    struct schedule_options options = {
        .method = "median", .min = 1, .max = LENGTH, .eta = 3, .rule = "vizir"};
    struct err err;

    (void)state;
    assert_null(scheduler_create(&options, NULL, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_string_equal(err.text,
                        "unknown rule 'vizir' (did you mean 'vizier'?)");
}

static int compare_doubles(const void *a, const void *b)
{
    const double *first = a, *second = b;

    return (*first > *second) - (*first < *second);
}

static double median_of(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof(*numbers), compare_doubles);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* Against the rule's own words, with several at once in any order. */
static void test_median__is_the_rule_for_any_history(void **state)
{
    enum { TRIALS = 60, STEPS = 9, RUNNING = 6 };
    double curves[TRIALS + 1][STEPS + 1], averages[TRIALS];
    bool completed[TRIALS + 1] = {false};
    uint64_t running[RUNNING], steps[TRIALS + 1] = {0}, count = 0, begun = 0;
    struct scheduler *scheduler = make("sagemaker", 3, STEPS);
    int stops = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 5, 1, 1);
    while (begun < TRIALS || count > 0) {
        size_t pick = rng_below(&rng, RUNNING);
        uint64_t trial, step, others = 0;
        bool worse;

        if (count < RUNNING && begun < TRIALS) {
            begin(scheduler, ++begun);
            running[count++] = begun;
            continue;
        }
        pick %= count;
        trial = running[pick];
        step = ++steps[trial];
        curves[trial][step] = floor(8 * rng_uniform(&rng)) / 8 - (double)step;
        for (uint64_t i = 1; i <= TRIALS; i++) {
            double sum = 0;

            for (uint64_t k = 1; completed[i] && k <= step; k++)
                sum += curves[i][k];
            if (completed[i])
                averages[others++] = sum / (double)step;
        }
        worse = others >= 3 && step < STEPS &&
                curves[trial][step] > median_of(averages, others);
        assert_int_equal(
            observe(scheduler, trial, step, curves[trial][step], 0).decision,
            worse ? DECIDE_STOP : DECIDE_CONTINUE);
        stops += worse;
        if (!worse && step < STEPS)
            continue;
        completed[trial] = !worse;
        scheduler_end(scheduler, trial,
                      worse ? OUTCOME_STOPPED : OUTCOME_COMPLETE);
        running[pick] = running[--count];
    }
    assert_in_range(stops, 1, TRIALS - 4);
    scheduler_destroy(scheduler);
}

static void test_running_median__is_the_middle(void **state)
{
    struct running_median median = {0};
    double numbers[200], sorted[200];
    struct rng rng;

    (void)state;
    assert_true(isnan(running_median_value(&median)));
    rng_init(&rng, 3, 1, 1);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        numbers[i] = floor(40 * rng_uniform(&rng)) - 20;
        running_median_add(&median, numbers[i]);
        memcpy(sorted, numbers, sizeof(sorted));
        assert_true(running_median_value(&median) == median_of(sorted, i + 1));
        assert_int_equal(running_median_count(&median), i + 1);
    }
    for (size_t i = 0; i <= ARRAY_LEN(numbers); i++)
        running_median_add(&median, i % 2 ? (double)NAN : (double)INFINITY);
    assert_true(running_median_value(&median) == (double)INFINITY);
    running_median_clear(&median);
}

/* After each of the first 1,024 units, then 64 times in each doubling. */
static void test_median__looks_less_often_far_on(void **state)
{
    enum { LAST = 1000001 };
    struct scheduler *scheduler = make("sagemaker", 1, LAST);

    (void)state;
    for (uint64_t trial = 1; trial <= 3; trial++) {
        uint64_t awaited, before = 0, looks = 0;

        begin(scheduler, trial);
        for (; (awaited = scheduler_awaits(scheduler, trial)) != UINT64_MAX;
             looks++, before = awaited) {
            struct verdict verdict = observe(scheduler, trial, awaited, 1, 1);

            if (awaited <= 1024)
                assert_int_equal(awaited, before + 1);
            else
                assert_in_range(awaited, before + 1, before + before / 64);
            assert_int_equal(verdict.decision, DECIDE_CONTINUE);
        }
        assert_int_equal(before, LAST);
        assert_int_equal(looks, 1024 + 9 * 64 + (LAST - 524288) / 8192 + 1);
        scheduler_end(scheduler, trial, OUTCOME_COMPLETE);
    }
    begin(scheduler, 4);
    for (uint64_t resource = 1; resource < LAST; resource *= 7)
        assert_int_equal(observe(scheduler, 4, resource, 1.01, 1).decision,
                         DECIDE_STOP);
    scheduler_destroy(scheduler);
}

/* Where nobody knows how far trials go, each ends where it wants to. */
static void test_median__lives_without_max(void **state)
{
    static const struct row rows[] = {
        {{5, 4, 3, 2, 1}, 0, NULL},
        {{5, 4, 3, 2, 9},
         5,
         "9 at 5 is worse than 3, the median of the running averages of 1 "
         "trial"},
    };

    (void)state;
    run_table(make("sagemaker", 1, SCHEDULE_NO_MAX), rows, ARRAY_LEN(rows));
}

static void test_median__is_fast(void **state)
{
    enum { TRIALS = 10000, STEPS = 100 };
    struct scheduler *scheduler = make("sagemaker", 1, STEPS);
    clock_t start = clock();
    uint64_t observations = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, 1, 1);
    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        double offset = rng_uniform(&rng);

        begin(scheduler, trial);
        for (uint64_t step = 1; step <= STEPS; step++, observations++)
            observe(scheduler, trial, step, offset, offset);
        scheduler_end(scheduler, trial, OUTCOME_COMPLETE);
    }
    assert_int_equal(observations, TRIALS * STEPS);
    print_message("median: %.2f s\n",
                  (double)(clock() - start) / CLOCKS_PER_SEC);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    scheduler_destroy(scheduler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median__stops_by_the_sagemaker_rule),
        cmocka_unit_test(test_median__stops_by_the_vizier_rule),
        cmocka_unit_test(test_median__takes_curves_as_they_are),
        cmocka_unit_test(test_median__counts_nan_as_worst),
        cmocka_unit_test(test_median__counts_completed_trials_alone),
        cmocka_unit_test(test_median__waits_for_min_and_for_trials),
        cmocka_unit_test(test_median__shows_values_as_the_user_knows_them),
        cmocka_unit_test(test_median__refuses_an_unknown_rule),
        cmocka_unit_test(test_median__is_the_rule_for_any_history),
        cmocka_unit_test(test_median__looks_less_often_far_on),
        cmocka_unit_test(test_median__lives_without_max),
        cmocka_unit_test(test_running_median__is_the_middle),
        cmocka_unit_test(test_median__is_fast),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
