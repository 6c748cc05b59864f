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

/* Li et al., JMLR 2018, table 1 (R = 81, eta = 3): n_i and r_i by bracket. */
enum { BRACKETS = 5 };

static const uint64_t table[BRACKETS][BRACKETS][2] = {
    {{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
    {{34, 3}, {11, 9}, {3, 27}, {1, 81}},
    {{15, 9}, {5, 27}, {1, 81}},
    {{8, 27}, {2, 81}},
    {{5, 81}},
};

static const struct schedule_options paper = {
    .method = "hyperband", .min = 1, .max = 81, .eta = 3};

static void test_hyperband__plans_the_papers_table(void **state)
{
    struct schedule_plan plan;
    uint64_t restarted = 0, resumed = 0;
    size_t row = 0;

    (void)state;
    assert_int_equal(schedule_plan_init(&plan, &paper, 0, NULL), 0);
    for (size_t b = 0; b < BRACKETS; b++)
        for (size_t i = 0; i < BRACKETS - b; i++, row++) {
            uint64_t before = i > 0 ? table[b][i - 1][1] : 0;

            assert_int_equal(plan.rungs[row].bracket, b);
            assert_int_equal(plan.rungs[row].rung, i);
            assert_int_equal(plan.rungs[row].trials, table[b][i][0]);
            assert_int_equal(plan.rungs[row].resource, table[b][i][1]);
            restarted += table[b][i][0] * table[b][i][1];
            resumed += table[b][i][0] * (table[b][i][1] - before);
        }
    assert_int_equal(plan.count, row);
    assert_int_equal(plan.trials, 81 + 34 + 15 + 8 + 5);
    assert_int_equal(plan.total_restarted, restarted);
    assert_int_equal(plan.total_resource, resumed);
    schedule_plan_clear(&plan);
}

/* So many trials of a run with so many slots came to each rung. */
static void play(const struct schedule_options *options, uint64_t trials,
                 uint64_t slots, uint64_t counts[BRACKETS][BRACKETS])
{
    struct scheduler *scheduler = make_scheduler(options);
    uint64_t running[64], count = 0, entered = 0;
    struct assignment next;
    struct verdict verdict;
    struct rng rng;

    rng_init(&rng, 1, trials, 0);
    for (;;) {
        size_t chosen;

        scheduler_next(scheduler, entered == trials, &next);
        if (next.kind == NEXT_STOP) {
            scheduler_assign(scheduler, next.trial, &next);
            continue;
        }
        if (next.kind != NEXT_NONE && count < slots) {
            running[count] = next.kind == NEXT_NEW ? ++entered : next.trial;
            scheduler_assign(scheduler, running[count++], &next);
            counts[next.bracket][next.rung]++;
            continue;
        }
        if (count == 0)
            break;
        chosen = rng_below(&rng, count);
        report(scheduler, running[chosen], rng_uniform(&rng), &verdict);
        running[chosen] = running[--count];
    }
    assert_int_equal(next.kind, NEXT_NONE);
    scheduler_destroy(scheduler);
}

static void test_hyperband__plays_the_papers_table(void **state)
{
    (void)state;
    for (uint64_t slots = 1; slots <= 64; slots *= 4)
        for (uint64_t rounds = 1; rounds <= 3; rounds++) {
            uint64_t counts[BRACKETS][BRACKETS] = {{0}};

            play(&paper, rounds * 143, slots, counts);
            for (size_t b = 0; b < BRACKETS; b++)
                for (size_t i = 0; i < BRACKETS; i++)
                    assert_int_equal(counts[b][i], rounds * table[b][i][0]);
        }
}

/* What is planned for any number of trials is what comes of them. */
static void test_hyperband__plays_what_it_plans(void **state)
{
    (void)state;
    for (uint64_t trials = 1; trials <= 300; trials += 7)
        for (uint64_t brackets = 0; brackets <= 2; brackets++) {
            struct schedule_options options = paper;
            uint64_t counts[BRACKETS][BRACKETS] = {{0}};
            struct schedule_plan plan;

            options.brackets = brackets;
            play(&options, trials, 10, counts);
            assert_int_equal(schedule_plan_init(&plan, &options, trials, NULL),
                             0);
            assert_int_equal(plan.trials, trials);
            for (size_t i = 0; i < plan.count; i++)
                assert_int_equal(
                    plan.rungs[i].trials,
                    counts[plan.rungs[i].bracket][plan.rungs[i].rung]);
            schedule_plan_clear(&plan);
        }
}

static const struct schedule_options small = {
    .method = "hyperband", .min = 1, .max = 4, .eta = 2, .maximize = true};

/* Brackets of 4, 3, 3 trials; a third worker goes on to the next bracket while
 * the first one waits. */
static const struct step recorded[] = {
    {STEP_NEW, 1, .next = {NEXT_NEW, 0, 1}},
    {STEP_NEW, 2, .next = {NEXT_NEW, 0, 1}},
    {STEP_NEW, 3, .next = {NEXT_NEW, 0, 1}},
    {STEP_NEW, 4, .next = {NEXT_NEW, 0, 2, ""}},
    {STEP_RESULT, 1, -0.1, .next = {NEXT_NEW, 0, 2}, .decision = DECIDE_PAUSE},
    {STEP_RESULT, 2, -0.2, .next = {NEXT_NEW, 0, 2}, .decision = DECIDE_PAUSE,
     .reason = "0.2 is among the best 1 of 2 at 1"},
    {STEP_NEW, 5, .next = {NEXT_NEW, 0, 2}},
    {STEP_NEW, 6, .next = {NEXT_NEW, 0, 2}},
    {STEP_RESULT, 3, -0.2, .next = {NEXT_NEW, 0, 2}, .decision = DECIDE_PAUSE,
     .reason = "0.2 is not among the best 1 of 3 at 1 (0.2 is the last "
               "of them)"},
    {STEP_END, 4, .outcome = OUTCOME_FAILED,
     .next = {NEXT_PROMOTE, 2, 2, "0.2 is among the best 2 of 4 at 1"}},
    {STEP_PROMOTE, 2, .next = {NEXT_PROMOTE, 3, 2}},
    {STEP_PROMOTE, 3, .next = {NEXT_NEW, 0, 2}},
    {STEP_NEW, 7, .next = {NEXT_NEW, 0, 4}},
    {STEP_RESULT, 2, -0.4, .next = {NEXT_NEW, 0, 4}, .decision = DECIDE_PAUSE},
    {STEP_RESULT, 3, (double)NAN, .next = {NEXT_PROMOTE, 2, 4},
     .decision = DECIDE_PAUSE},
    {STEP_PROMOTE, 2, .next = {NEXT_NEW, 0, 4}},
    /* all above the first rung failed: the next best there climbs */
    {STEP_END, 2, .outcome = OUTCOME_FAILED,
     .next = {NEXT_PROMOTE, 1, 2,
              "it is the best paused trial at 1, and one must reach 4"}},
    {STEP_PROMOTE, 1, .next = {NEXT_NEW, 0, 4}},
    {STEP_RESULT, 1, -0.3, .next = {NEXT_PROMOTE, 1, 4},
     .decision = DECIDE_PAUSE},
    {STEP_PROMOTE, 1, .next = {NEXT_NEW, 0, 4}},
    {STEP_RESULT, 1, -0.3, .next = {NEXT_STOP, 3, 2, "no value at 2"}},
    {STEP_STOP, 3, .next = {NEXT_NEW, 0, 4}},
    {STEP_NEW, 8, .next = {NEXT_NEW, 0, 4}},
    {STEP_NEW, 9, .next = {NEXT_NEW, 0, 4}},
    {STEP_NEW, 10, .next = {NEXT_NEW, 0, 1}}, /* the next round */
    {STEP_RESULT, 8, -0.3, .next = {NEXT_NEW, 0, 1},
     .reason = "it reached the largest resource, 4"},
    {STEP_RESULT, 5, -0.3, .next = {NEXT_NEW, 0, 1}, .decision = DECIDE_PAUSE},
    {STEP_RESULT, 6, -0.1, .next = {NEXT_NEW, 0, 1}, .decision = DECIDE_PAUSE},
    {STEP_RESULT, 7, -0.5, .decision = DECIDE_PAUSE,
     .next = {NEXT_PROMOTE, 7, 4}},
    {STEP_PROMOTE, 7, .next = {NEXT_NEW, 0, 1}},
    {STEP_RESULT, 7, -0.6,
     .next = {NEXT_STOP, 5, 2,
              "0.3 is not among the best 1 of 3 at 2 (0.5 is the last "
              "of them)"}},
    {STEP_STOP, 5, .next = {NEXT_STOP, 6}},
    {STEP_STOP, 6, .next = {NEXT_NEW, 0, 1}},
};

static void test_hyperband__halves_when_all_are_there(void **state)
{
    (void)state;
    take_steps(&small, recorded, ARRAY_LEN(recorded));
}

static void test_hyperband__a_bracket_cut_short_is_complete(void **state)
{
    static const struct step steps[] = {
        {STEP_NEW, 1, .next = {NEXT_NEW, 0, 1}},
        {STEP_NEW, 2, .next = {NEXT_NEW, 0, 1}},
        {STEP_NEW, 3, .next = {NEXT_NEW, 0, 1}},
        {STEP_RESULT, 1, -0.1, .next = {NEXT_NEW, 0, 1},
         .decision = DECIDE_PAUSE},
        {STEP_RESULT, 2, -0.2, .next = {NEXT_NEW, 0, 1},
         .decision = DECIDE_PAUSE},
        {STEP_RESULT, 3, -0.3, .next = {NEXT_PROMOTE, 3, 2},
         .decision = DECIDE_PAUSE, .is_closed = true},
        {STEP_PROMOTE, 3, .next = {NEXT_NONE}, .is_closed = true},
        {STEP_RESULT, 3, -0.3, .next = {NEXT_PROMOTE, 3, 4},
         .decision = DECIDE_PAUSE, .is_closed = true},
        {STEP_PROMOTE, 3, .next = {NEXT_NONE}, .is_closed = true},
        {STEP_RESULT, 3, -0.3, .next = {NEXT_STOP, 2}, .is_closed = true},
        {STEP_STOP, 2, .next = {NEXT_STOP, 1}, .is_closed = true},
        {STEP_STOP, 1, .next = {NEXT_NONE}, .is_closed = true},
    };

    (void)state;
    take_steps(&small, steps, ARRAY_LEN(steps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hyperband__plans_the_papers_table),
        cmocka_unit_test(test_hyperband__plays_the_papers_table),
        cmocka_unit_test(test_hyperband__plays_what_it_plans),
        cmocka_unit_test(test_hyperband__halves_when_all_are_there),
        cmocka_unit_test(test_hyperband__a_bracket_cut_short_is_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
