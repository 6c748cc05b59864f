/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/schedules/rungs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/schedules/scheduler.h"

enum { RESULTS = 500, SEEDS = 20 };

static struct ladder make_ladder(uint64_t min, uint64_t max, uint64_t eta)
{
    struct schedule_options options = {.min = min, .max = max, .eta = eta};
    struct ladder ladder;
    struct err err = {0};

    if (ladder_init(&ladder, &options, &err) != 0)
        fail_msg("%s", err.text);
    return ladder;
}

static void test_rungs__climb_by_eta_from_min_to_max(void **state)
{
    static const struct {
        uint64_t min, max, eta;
        uint64_t rungs[9]; /* 0-ended */
    } cases[] = {
        {1, 81, 3, {1, 3, 9, 27, 81}},
        {1, 27, 3, {1, 3, 9, 27}},
        {1, 200, 3, {1, 2, 7, 22, 66, 200}},
        {1, 100, 3, {1, 3, 11, 33, 100}},
        {4, 100, 3, {4, 11, 33, 100}},
        {11, 100, 3, {11, 33, 100}},
        {34, 100, 3, {34, 100}},
        {1, 2, 3, {1, 2}},
        {5, 6, 1000, {5, 6}},
        {1, 64, 4, {1, 4, 16, 64}},
        {1, 100, 2, {1, 3, 6, 12, 25, 50, 100}},
        {1000, 1000000, 10, {1000, 10000, 100000, 1000000}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ladder ladder =
            make_ladder(cases[i].min, cases[i].max, cases[i].eta);

        for (size_t k = 0; k < ladder.count; k++)
            assert_int_equal(ladder.resources[k], cases[i].rungs[k]);
        assert_int_equal(cases[i].rungs[ladder.count], 0);
    }
}

static void test_rungs__ascend_whatever_the_numbers(void **state)
{
    static const uint64_t largest = UINT64_C(1000000000000);
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t max = 2 + (rng_u64(&rng) >> rng_below(&rng, 64)) % largest;
        uint64_t min = 1 + rng_below(&rng, max - 1);
        struct ladder ladder =
            make_ladder(i % 2 == 0 ? 1 : min, max, 2 + rng_below(&rng, 9));

        assert_in_range(ladder.count, 2, LADDER_MAX);
        assert_int_equal(ladder.resources[0], i % 2 == 0 ? 1 : min);
        assert_int_equal(ladder.resources[ladder.count - 1], max);
        for (size_t k = 1; k < ladder.count; k++)
            assert_true(ladder.resources[k - 1] < ladder.resources[k]);
        assert_in_range(ladder_trials(&ladder, 0), 1, INT64_MAX);
    }
}

/* Li et al., JMLR 2018, table 1; and Syne Tune's example. */
static void test_rungs__brackets_have_the_papers_sizes(void **state)
{
    static const uint64_t paper[] = {81, 34, 15, 8, 5};
    static const uint64_t syne_tune[] = {243, 98, 41, 18, 9, 6};
    struct ladder ladder = make_ladder(1, 81, 3);

    (void)state;
    assert_int_equal(ladder.count, ARRAY_LEN(paper));
    for (size_t i = 0; i < ARRAY_LEN(paper); i++)
        assert_int_equal(ladder_trials(&ladder, i), paper[i]);
    ladder = make_ladder(1, 200, 3);
    assert_int_equal(ladder.count, ARRAY_LEN(syne_tune));
    for (size_t i = 0; i < ARRAY_LEN(syne_tune); i++)
        assert_int_equal(ladder_trials(&ladder, i), syne_tune[i]);
}

static void test_rungs__options_are_checked(void **state)
{
    static const struct {
        struct schedule_options options;
        const char *text;
    } cases[] = {
        {{.min = 1, .max = 9, .eta = 1}, "eta must be from 2 to 1000, not 1"},
        {{.min = 1, .max = 9, .eta = 1001},
         "eta must be from 2 to 1000, not 1001"},
        {{.min = 1, .max = 9, .eta = 3, .brackets = 4},
         "out of range: brackets is 4, and there are 3 rungs from 1 to 9 with "
         "eta 3"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ladder ladder;
        struct err err = {0};

        assert_int_equal(ladder_init(&ladder, &cases[i].options, &err), -1);
        assert_int_equal(err.kind, ERR_FILE);
        assert_string_equal(err.text, cases[i].text);
    }
}

static bool is_better(const struct rung *rung, size_t a, size_t b)
{
    double x = rung->results[a].value, y = rung->results[b].value;

    if (isnan(x) != isnan(y))
        return isnan(y);
    return x < y || ((x == y || isnan(x)) && a < b);
}

/* All answers, by looking at each result. */
static void check_rung(const struct rung *rung, const bool *is_open)
{
    const struct rung_result *best_open = NULL;
    size_t rank = 0;

    for (size_t i = 0; i < rung->count; i++) {
        rank = 0;
        for (size_t k = 0; k < rung->count; k++)
            rank += is_better(rung, k, i);
        assert_int_equal(rung_rank(rung, i), rank);
        assert_ptr_equal(rung_at(rung, rank), &rung->results[i]);
        assert_int_equal(rung->results[i].is_open, is_open[i]);
        if (is_open[i] &&
            (best_open == NULL ||
             is_better(rung, i, (size_t)(best_open - rung->results))))
            best_open = &rung->results[i];
    }
    assert_ptr_equal(rung_best_open(rung, &rank), best_open);
    assert_ptr_equal(rung_best_open(rung, NULL), best_open);
    if (best_open != NULL)
        assert_int_equal(rank,
                         rung_rank(rung, (size_t)(best_open - rung->results)));
}

/* Values of which many are the same, and some NaN or infinite. */
static double draw_value(struct rng *rng)
{
    uint64_t kind = rng_below(rng, 20);

    if (kind == 0)
        return (double)NAN;
    if (kind == 1)
        return rng_below(rng, 2) == 0 ? -(double)INFINITY : (double)INFINITY;
    if (kind < 10)
        return (double)rng_below(rng, 20);
    return 20.0 * rng_uniform(rng);
}

static void test_rungs__results_have_their_rank(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rung rung = {0};
        bool is_open[RESULTS];
        struct rng rng;

        rng_init(&rng, seed, 0, 0);
        check_rung(&rung, is_open);
        for (size_t i = 0; i < RESULTS; i++) {
            size_t closed = rng_below(&rng, i + 1);

            is_open[i] = rng_below(&rng, 3) > 0;
            assert_int_equal(
                rung_add(&rung, i + 1, draw_value(&rng), is_open[i]), i);
            if (rng_below(&rng, 2) == 0) {
                rung_close(&rung, closed);
                is_open[closed] = false;
            }
            if (i % 50 == 0)
                check_rung(&rung, is_open);
        }
        check_rung(&rung, is_open);
        rung_clear(&rung);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rungs__climb_by_eta_from_min_to_max),
        cmocka_unit_test(test_rungs__ascend_whatever_the_numbers),
        cmocka_unit_test(test_rungs__brackets_have_the_papers_sizes),
        cmocka_unit_test(test_rungs__options_are_checked),
        cmocka_unit_test(test_rungs__results_have_their_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
