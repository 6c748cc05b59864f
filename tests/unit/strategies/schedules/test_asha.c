/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "tests/unit/strategies/schedules/schedules.h"

static const struct schedule_options promotion = {
    .method = "asha", .min = 1, .max = 9, .eta = 3};

#define NEW_NEXT                                                               \
    {                                                                          \
        NEXT_NEW, 0, 1, ""                                                     \
    }

/* Li et al., MLSys 2020, algorithm 2: with ties, NaN, and failures. */
static const struct step recorded[] = {
    {STEP_NEW, 1, .next = NEW_NEXT},
    {STEP_NEW, 2, .next = NEW_NEXT},
    {STEP_NEW, 3, .next = NEW_NEXT},
    {STEP_NEW, 4, .next = NEW_NEXT},
    {STEP_RESULT, 1, 0.5, .next = NEW_NEXT, .decision = DECIDE_PAUSE,
     .reason = "0.5 is one of 1 at 1, and a comparison needs 3"},
    {STEP_RESULT, 2, 0.3, .next = NEW_NEXT, .decision = DECIDE_PAUSE},
    /* of equals, the one told first */
    {STEP_RESULT, 3, 0.3, .decision = DECIDE_PAUSE,
     .reason = "0.3 is not among the best 1 of 3 at 1 (0.3 is the last "
               "of them)",
     .next = {NEXT_PROMOTE, 2, 3, "0.3 is among the best 1 of 3 at 1"}},
    {STEP_PROMOTE, 2, .next = NEW_NEXT},
    {STEP_RESULT, 4, (double)NAN, .next = NEW_NEXT, .decision = DECIDE_PAUSE,
     .reason = "no value at 1"},
    {STEP_NEW, 5, .next = NEW_NEXT},
    {STEP_NEW, 6, .next = NEW_NEXT},
    /* better than the one that went: the best third of 5 is 1 */
    {STEP_RESULT, 5, 0.2, .decision = DECIDE_PAUSE,
     .reason = "0.2 is among the best 1 of 5 at 1",
     .next = {NEXT_PROMOTE, 5, 3}},
    {STEP_PROMOTE, 5, .next = NEW_NEXT},
    {STEP_END, 6, .outcome = OUTCOME_FAILED, .next = NEW_NEXT},
    {STEP_RESULT, 2, 0.25, .next = NEW_NEXT, .decision = DECIDE_PAUSE,
     .reason = "0.25 is one of 1 at 3, and a comparison needs 3"},
    {STEP_RESULT, 5, 0.21, .next = NEW_NEXT, .decision = DECIDE_PAUSE},
    {STEP_NEW, 7, .next = NEW_NEXT},
    {STEP_NEW, 8, .next = NEW_NEXT},
    {STEP_NEW, 9, .next = NEW_NEXT},
    {STEP_RESULT, 7, 0.35, .next = NEW_NEXT, .decision = DECIDE_PAUSE},
    {STEP_RESULT, 8, 0.9, .next = NEW_NEXT, .decision = DECIDE_PAUSE},
    {STEP_RESULT, 9, 0.1, .decision = DECIDE_PAUSE,
     .next = {NEXT_PROMOTE, 9, 3, "0.1 is among the best 3 of 9 at 1"}},
    {STEP_PROMOTE, 9, .next = NEW_NEXT},
    {STEP_RESULT, 9, 0.15, .decision = DECIDE_PAUSE,
     .next = {NEXT_PROMOTE, 9, 9, "0.15 is among the best 1 of 3 at 3"}},
    {STEP_PROMOTE, 9, .next = NEW_NEXT},
    {STEP_RESULT, 9, 0.12, .next = NEW_NEXT, .decision = DECIDE_CONTINUE,
     .reason = "it reached the largest resource, 9"},
    {STEP_END, 9, .outcome = OUTCOME_COMPLETE, .next = NEW_NEXT},
    {STEP_NEW, 10, .next = NEW_NEXT},
    {STEP_NEW, 11, .next = NEW_NEXT},
    {STEP_NEW, 12, .next = NEW_NEXT},
    {STEP_NEW, 13, .next = NEW_NEXT},
    {STEP_RESULT, 10, 0.3, .next = NEW_NEXT, .decision = DECIDE_PAUSE},
    /* as if it had never been */
    {STEP_END, 13, .outcome = OUTCOME_CANCELLED, .next = NEW_NEXT},
    {STEP_RESULT, 11, 0.8, .next = NEW_NEXT, .decision = DECIDE_PAUSE},
    {STEP_RESULT, 12, 0.3, .decision = DECIDE_PAUSE,
     .next = {NEXT_PROMOTE, 3, 3, "0.3 is among the best 4 of 12 at 1"}},
    /* from now on no new ones come */
    {STEP_PROMOTE, 3, .is_closed = true, .next = {NEXT_NONE}},
    {STEP_END, 3, .outcome = OUTCOME_FAILED, .is_closed = true,
     .next = {NEXT_STOP, 10, 1,
              "0.3 is not among the best 4 of 12 at 1 (0.3 is the last "
              "of them)"}},
    {STEP_STOP, 10, .is_closed = true, .next = {NEXT_STOP, 12}},
    {STEP_STOP, 12, .is_closed = true, .next = {NEXT_STOP, 7}},
    {STEP_STOP, 7, .is_closed = true, .next = {NEXT_STOP, 1}},
    {STEP_STOP, 1, .is_closed = true, .next = {NEXT_STOP, 11}},
    {STEP_STOP, 11, .is_closed = true, .next = {NEXT_STOP, 8}},
    {STEP_STOP, 8, .is_closed = true,
     .next = {NEXT_STOP, 4, 1, "no value at 1"}},
    {STEP_STOP, 4, .is_closed = true, .next = {NEXT_STOP, 5, 3}},
    {STEP_STOP, 5, .is_closed = true, .next = {NEXT_STOP, 2, 3}},
    {STEP_STOP, 2, .is_closed = true, .next = {NEXT_NONE}},
};

static void test_asha__promotes_as_the_paper_does(void **state)
{
    (void)state;
    take_steps(&promotion, recorded, ARRAY_LEN(recorded));
}

static void test_asha__one_comes_to_max_at_the_end(void **state)
{
    static const struct step steps[] = {
        {STEP_NEW, 1, .next = NEW_NEXT},
        {STEP_NEW, 2, .next = NEW_NEXT},
        {STEP_NEW, 3, .next = NEW_NEXT},
        {STEP_NEW, 4, .is_closed = true, .next = {NEXT_NONE}},
        {STEP_RESULT, 1, 0.5, .decision = DECIDE_PAUSE, .is_closed = true,
         .next = {NEXT_NONE}},
        {STEP_RESULT, 2, 0.3, .decision = DECIDE_PAUSE, .is_closed = true,
         .next = {NEXT_NONE}},
        {STEP_RESULT, 3, 0.6, .decision = DECIDE_PAUSE, .is_closed = true,
         .next = {NEXT_PROMOTE, 2, 3}},
        {STEP_PROMOTE, 2, .is_closed = true, .next = {NEXT_NONE}},
        {STEP_RESULT, 4, (double)NAN, .decision = DECIDE_PAUSE,
         .is_closed = true, .next = {NEXT_NONE}},
        {STEP_END, 2, .outcome = OUTCOME_FAILED, .is_closed = true,
         .next = {NEXT_PROMOTE, 1, 3,
                  "it is the best paused trial at 1, and one must reach 9"}},
        {STEP_PROMOTE, 1, .is_closed = true, .next = {NEXT_NONE}},
        {STEP_RESULT, 1, 0.4, .decision = DECIDE_PAUSE, .is_closed = true,
         .next = {NEXT_PROMOTE, 1, 9}},
        {STEP_PROMOTE, 1, .is_closed = true, .next = {NEXT_NONE}},
        /* a number is asked for */
        {STEP_RESULT, 1, (double)NAN, .is_closed = true,
         .next = {NEXT_PROMOTE, 3, 3}},
        {STEP_PROMOTE, 3, .is_closed = true, .next = {NEXT_NONE}},
        {STEP_RESULT, 3, 0.5, .decision = DECIDE_PAUSE, .is_closed = true,
         .next = {NEXT_PROMOTE, 3, 9}},
        {STEP_PROMOTE, 3, .is_closed = true, .next = {NEXT_NONE}},
        /* and that is all there is */
        {STEP_END, 3, .outcome = OUTCOME_FAILED, .is_closed = true,
         .next = {NEXT_STOP, 4}},
        {STEP_STOP, 4, .is_closed = true, .next = {NEXT_NONE}},
    };

    (void)state;
    take_steps(&promotion, steps, ARRAY_LEN(steps));
}

#define FULL_NEXT                                                              \
    {                                                                          \
        NEXT_NEW, 0, 9, ""                                                     \
    }

static void test_asha__stops_who_is_not_among_the_best(void **state)
{
    static const struct schedule_options stopping = {.method = "asha",
                                                     .min = 1,
                                                     .max = 9,
                                                     .eta = 3,
                                                     .type = SCHEDULE_STOPPING,
                                                     .maximize = true};
    static const struct step steps[] = {
        {STEP_NEW, 1, .next = FULL_NEXT},
        {STEP_NEW, 2, .next = FULL_NEXT},
        {STEP_NEW, 3, .next = FULL_NEXT},
        {STEP_RESULT, 1, -0.5, .next = FULL_NEXT, .decision = DECIDE_CONTINUE,
         .reason = "0.5 is one of 1 at 1, and a comparison needs 3"},
        {STEP_RESULT, 2, -0.6, .next = FULL_NEXT, .decision = DECIDE_CONTINUE},
        /* a tie is lost by the later one */
        {STEP_RESULT, 3, -0.6, .next = FULL_NEXT, .decision = DECIDE_STOP,
         .reason = "0.6 is not among the best 1 of 3 at 1 (0.6 is the last "
                   "of them)"},
        {STEP_END, 3, .outcome = OUTCOME_STOPPED, .next = FULL_NEXT},
        {STEP_NEW, 4, .next = FULL_NEXT},
        {STEP_RESULT, 4, -0.7, .next = FULL_NEXT, .decision = DECIDE_CONTINUE,
         .reason = "0.7 is among the best 1 of 4 at 1"},
        {STEP_RESULT, 1, -0.6, .next = FULL_NEXT, .decision = DECIDE_CONTINUE},
        {STEP_RESULT, 1, -0.7, .next = FULL_NEXT, .decision = DECIDE_CONTINUE,
         .reason = "it reached the largest resource, 9"},
        {STEP_END, 1, .outcome = OUTCOME_COMPLETE, .next = FULL_NEXT},
        {STEP_END, 2, .outcome = OUTCOME_FAILED, .next = FULL_NEXT},
        /* the third at 3, since one failed on its way there */
        {STEP_RESULT, 4, -0.5, .next = FULL_NEXT, .decision = DECIDE_STOP,
         .reason = "0.5 is not among the best 1 of 3 at 3 (0.6 is the last "
                   "of them)"},
        {STEP_NEW, 5, .next = FULL_NEXT},
        {STEP_RESULT, 5, (double)NAN, .next = FULL_NEXT,
         .decision = DECIDE_STOP, .reason = "no value at 1"},
        {STEP_NEW, 6, .is_closed = true, .next = {NEXT_NONE}},
        {STEP_RESULT, 6, -0.65, .decision = DECIDE_CONTINUE, .is_closed = true,
         .reason = "0.65 is among the best 2 of 6 at 1", .next = {NEXT_NONE}},
    };

    (void)state;
    take_steps(&stopping, steps, ARRAY_LEN(steps));
}

static void test_asha__a_late_report_counts_at_the_highest_rung(void **state)
{
    struct schedule_options options = promotion;
    struct assignment next;
    struct verdict verdict;
    struct scheduler *scheduler;

    (void)state;
    options.type = SCHEDULE_STOPPING;
    scheduler = make_scheduler(&options);
    assert_false(scheduler_pauses(scheduler));
    scheduler_next(scheduler, false, &next);
    scheduler_assign(scheduler, 1, &next);
    assert_int_equal(scheduler_awaits(scheduler, 1), 1);
    scheduler_observe(
        scheduler, &(struct observation){.trial = 1, .resource = 5}, &verdict);
    assert_int_equal(verdict.decision, DECIDE_CONTINUE);
    assert_int_equal(verdict.rung, 1);
    assert_int_equal(scheduler_awaits(scheduler, 1), 9);
    scheduler_observe(
        scheduler, &(struct observation){.trial = 1, .resource = 12}, &verdict);
    assert_int_equal(verdict.rung, 2);
    assert_int_equal(scheduler_awaits(scheduler, 1), UINT64_MAX);
    /* whom it does not know, or knows no more */
    for (uint64_t trial = 0; trial <= 2; trial++) {
        scheduler_observe(scheduler,
                          &(struct observation){.trial = trial, .resource = 9},
                          &verdict);
        assert_int_equal(verdict.decision, DECIDE_CONTINUE);
        assert_int_equal(verdict.rung, -1);
        scheduler_end(scheduler, trial, OUTCOME_FAILED);
        assert_int_equal(scheduler_awaits(scheduler, trial), UINT64_MAX);
    }
    scheduler_destroy(scheduler);
}

/* New trials are dealt out as Hyperband's sizes 9, 5, 3 are, at all times. */
static void test_asha__brackets_get_their_share(void **state)
{
    static const double sizes[] = {9, 5, 3};
    static const uint64_t resources[] = {1, 3, 9};
    struct schedule_options options = promotion;
    struct scheduler *scheduler;
    double counts[3] = {0};

    (void)state;
    options.brackets = 3;
    scheduler = make_scheduler(&options);
    for (uint64_t trial = 1; trial <= 5 * 17; trial++) {
        struct assignment next;

        scheduler_next(scheduler, false, &next);
        assert_int_equal(next.kind, NEXT_NEW);
        assert_in_range(next.bracket, 0, 2);
        assert_int_equal(next.rung, 0);
        assert_int_equal(next.resource, resources[next.bracket]);
        scheduler_assign(scheduler, trial, &next);
        assert_int_equal(scheduler_awaits(scheduler, trial), next.resource);
        counts[next.bracket]++;
        for (size_t i = 0; i < 3; i++)
            assert_true(fabs(counts[i] - (double)trial * sizes[i] / 17) < 2);
    }
    for (size_t i = 0; i < 3; i++)
        assert_true(counts[i] == 5 * sizes[i]);
    scheduler_destroy(scheduler);
}

static void check_plan(const struct schedule_options *options, uint64_t trials,
                       const uint64_t (*rungs)[4], uint64_t total)
{
    struct schedule_plan plan;
    struct err err = {0};

    if (schedule_plan_init(&plan, options, trials, &err) != 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < plan.count; i++) {
        assert_int_equal(plan.rungs[i].bracket, rungs[i][0]);
        assert_int_equal(plan.rungs[i].rung, rungs[i][1]);
        assert_int_equal(plan.rungs[i].trials, rungs[i][2]);
        assert_int_equal(plan.rungs[i].resource, rungs[i][3]);
    }
    assert_int_equal(rungs[plan.count][3], 0);
    assert_int_equal(plan.total_resource, total);
    schedule_plan_clear(&plan);
}

static void test_asha__plan_divides_by_eta(void **state)
{
    struct schedule_options options = promotion;

    (void)state;
    check_plan(
        &options, 0,
        (const uint64_t[][4]){{0, 0, 9, 1}, {0, 1, 3, 3}, {0, 2, 1, 9}, {0}},
        9 + 3 * 2 + 6);
    check_plan(&options, 100,
               (const uint64_t[][4]){
                   {0, 0, 100, 1}, {0, 1, 33, 3}, {0, 2, 11, 9}, {0}},
               100 + 33 * 2 + 11 * 6);
    check_plan(
        &options, 2,
        (const uint64_t[][4]){{0, 0, 2, 1}, {0, 1, 1, 3}, {0, 2, 1, 9}, {0}},
        2 + 2 + 6);
    options.brackets = 2;
    check_plan(&options, 28,
               (const uint64_t[][4]){{0, 0, 18, 1},
                                     {0, 1, 6, 3},
                                     {0, 2, 2, 9},
                                     {1, 0, 10, 3},
                                     {1, 1, 3, 9},
                                     {0}},
               18 + 6 * 2 + 2 * 6 + 10 * 3 + 3 * 6);
    options.brackets = 1;
    options.type = SCHEDULE_STOPPING;
    check_plan(
        &options, 30,
        (const uint64_t[][4]){{0, 0, 30, 1}, {0, 1, 12, 3}, {0, 2, 6, 9}, {0}},
        30 + 12 * 2 + 6 * 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asha__promotes_as_the_paper_does),
        cmocka_unit_test(test_asha__one_comes_to_max_at_the_end),
        cmocka_unit_test(test_asha__stops_who_is_not_among_the_best),
        cmocka_unit_test(test_asha__a_late_report_counts_at_the_highest_rung),
        cmocka_unit_test(test_asha__brackets_get_their_share),
        cmocka_unit_test(test_asha__plan_divides_by_eta),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
