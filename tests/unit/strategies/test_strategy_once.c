/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "strategies/space/hash_set.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

/*
 * A finite space has each setting once, whatever a user enqueued and whatever
 * earlier runs tried. Settings that a user asks for twice are tried twice, and
 * nothing is forgotten for that.
 */

enum { FINITE = 4, POINTS_MAX = 64, WIDTH = 4, WISH_AT = 6 };

static const char *const methods[] = {"auto",     "grid", "random", "sobol",
                                      "bayesian", "tpe",  "cmaes",  "nsga2"};

/* Of the points by number: which are enqueued, asked for later, and known. */
static const size_t enqueued[] = {3, 3, 17}, wishes[] = {17, 3, 3},
                    earlier[] = {0, 9};

struct points {
    struct value values[POINTS_MAX][WIDTH];
    size_t count;
};

static struct strategy *make(const char *method, struct space *space)
{
    const struct strategy_options options = {.method = method,
                                             .seed = 3,
                                             .grid_points = 4,
                                             .budget_trials = POINTS_MAX};
    struct strategy *strategy = strategy_create(&options, space, NULL);

    assert_non_null(strategy);
    return strategy;
}

static void list_points(struct space *space, struct points *points)
{
    struct strategy *grid = make("grid", space);

    points->count = 0;
    while (strategy_ask(grid, points->count + 1, points->values[points->count],
                        NULL, NULL) == ASK_OK)
        points->count++;
    strategy_destroy(grid);
}

/* What a user and earlier runs asked for before the first trial. */
static void begin(struct strategy *strategy, const struct points *points)
{
    const double value = 1;

    for (size_t i = 0; i < ARRAY_LEN(earlier); i++)
        strategy_add_earlier(strategy, points->values[earlier[i]],
                             &(struct trial_result){.values = &value}, true);
    for (size_t i = 0; i < ARRAY_LEN(enqueued); i++)
        assert_int_equal(
            strategy_enqueue(strategy, points->values[enqueued[i]], NULL), 0);
}

static void add_wishes(struct strategy *strategy, const struct points *points)
{
    for (size_t i = 0; i < ARRAY_LEN(wishes); i++)
        assert_int_equal(
            strategy_wish(strategy, i + 1, points->values[wishes[i]], NULL), 0);
}

static void has_each_point_once(const char *method, struct space *space,
                                const struct points *points)
{
    struct strategy *strategy = make(method, space);
    size_t asked_for = ARRAY_LEN(enqueued) + ARRAY_LEN(wishes);
    /* of those that are asked for, two are other points */
    size_t trials = points->count - ARRAY_LEN(earlier) + asked_for - 2;
    struct hash_set seen = {0};
    struct value point[WIDTH];
    size_t repeats = 0;

    begin(strategy, points);
    for (size_t i = 0; i < ARRAY_LEN(earlier); i++)
        hash_set_add(&seen, space_hash(space, points->values[earlier[i]]));
    for (uint64_t trial = 1; trial <= trials; trial++) {
        if (trial == WISH_AT)
            add_wishes(strategy, points);
        assert_int_equal(strategy_ask(strategy, trial, point, NULL, NULL),
                         ASK_OK);
        repeats += !hash_set_add(&seen, space_hash(space, point));
    }
    assert_int_equal(seen.count, points->count);
    assert_int_equal(repeats, asked_for - 2);
    hash_set_clear(&seen);
    strategy_destroy(strategy);
}

/* The record has the points alone, and what waits still. */
static void goes_on_after_a_restart(const char *method, struct space *space,
                                    const struct points *points)
{
    struct strategy *whole = make(method, space);
    struct strategy *again = make(method, space);
    struct value point[WIDTH], other[WIDTH];
    struct suggestion suggestion;
    uint64_t trials = points->count * 2;

    begin(whole, points);
    begin(again, points);
    for (uint64_t trial = 1; trial <= trials; trial++) {
        if (trial == WISH_AT)
            add_wishes(whole, points);
        if (strategy_ask(whole, trial, point, &suggestion, NULL) != ASK_OK) {
            assert_int_equal(strategy_ask(again, trial, other, NULL, NULL),
                             ASK_EXHAUSTED);
            break;
        }
        if (trial < WISH_AT + ARRAY_LEN(wishes)) {
            strategy_restore(again, trial, point, suggestion.cursor);
            continue;
        }
        assert_int_equal(strategy_ask(again, trial, other, NULL, NULL), ASK_OK);
        assert_int_equal(space_hash(space, point), space_hash(space, other));
    }
    strategy_destroy(whole);
    strategy_destroy(again);
}

static void for_all(void (*property)(const char *method, struct space *space,
                                     const struct points *points))
{
    struct space *space = spec_build(&specs[FINITE], env);
    struct points points;

    list_points(space, &points);
    assert_int_equal(points.count, specs[FINITE].points);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        property(methods[i], space, &points);
    space_destroy(space);
}

static void test_once__each_setting_comes_once(void **state)
{
    (void)state;
    for_all(has_each_point_once);
}

static void test_once__a_restart_changes_nothing(void **state)
{
    (void)state;
    for_all(goes_on_after_a_restart);
}

/* There is nothing left, which is not the same as nothing feasible. */
static void test_once__a_grid_that_earlier_runs_tried_ends(void **state)
{
    struct space *space = spec_build(&specs[FINITE], env);
    struct strategy *grid = make("grid", space);
    struct value point[WIDTH];
    struct points points;

    (void)state;
    list_points(space, &points);
    for (size_t i = 0; i < points.count; i++)
        strategy_add_earlier(grid, points.values[i],
                             &(struct trial_result){.values = NULL}, true);
    assert_int_equal(strategy_ask(grid, 1, point, NULL, NULL), ASK_EXHAUSTED);
    strategy_destroy(grid);
    space_destroy(space);
}

/* In a continuum, too: what was enqueued twice is no reason to forget. */
static void test_once__a_branch_without_a_continuum_is_not_repeated(
    void **state)
{
    const struct param params[] = {SPEC_BOOL("flag"),
                                   SPEC_FLOAT("x", 0, 1, LINEAR)};
    const char *const when[][2] = {{"x", "flag"}, {NULL, NULL}};
    const struct spec spec = {.params = params, .param_count = 2, .when = when};
    struct space *space = spec_build(&spec, env);
    struct value off[2] = {value_bool(false), value_null()}, on[2], point[2];

    (void)state;
    on[0] = value_bool(true);
    on[1] = value_real(0.5);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct strategy *strategy = make(methods[i], space);

        assert_int_equal(strategy_enqueue(strategy, off, NULL), 0);
        assert_int_equal(strategy_enqueue(strategy, on, NULL), 0);
        assert_int_equal(strategy_enqueue(strategy, on, NULL), 0);
        for (uint64_t trial = 1; trial <= 3; trial++)
            assert_int_equal(strategy_ask(strategy, trial, point, NULL, NULL),
                             ASK_OK);
        for (uint64_t trial = 4;
             trial <= 12 &&
             strategy_ask(strategy, trial, point, NULL, NULL) == ASK_OK;
             trial++)
            assert_true(point[0].boolean);
        strategy_destroy(strategy);
    }
    space_destroy(space);
}

static void test_once__what_an_enqueued_value_needs_follows_from_it(
    void **state)
{
    struct space *space = spec_build(&specs[2], env); /* nested */
    struct value values[5] = {{0}}, point[5];
    struct err err = {0};

    (void)state;
    values[4] = value_int(7); /* the gap: with nesterov, momentum and sgd */
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct strategy *strategy = make(methods[i], space);

        assert_int_equal(strategy_enqueue(strategy, values, NULL), 0);
        assert_int_equal(strategy_wish(strategy, 1, values, NULL), 0);
        for (uint64_t trial = 1; trial <= 2; trial++) {
            assert_int_equal(strategy_ask(strategy, trial, point, NULL, NULL),
                             ASK_OK);
            assert_int_equal(point[4].integer, 7);
            assert_string_equal(point[1].text, "sgd");
        }
        values[1] = value_text("adam");
        assert_int_equal(strategy_enqueue(strategy, values, &err), -1);
        assert_string_equal(err.text,
                            "parameter 'gap' is inactive with these values (it "
                            "is active when nesterov)");
        assert_int_equal(strategy_wish(strategy, 2, values, &err), -1);
        values[1] = value_null();
        strategy_destroy(strategy);
    }
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once__each_setting_comes_once),
        cmocka_unit_test(test_once__a_restart_changes_nothing),
        cmocka_unit_test(test_once__a_grid_that_earlier_runs_tried_ends),
        cmocka_unit_test(
            test_once__a_branch_without_a_continuum_is_not_repeated),
        cmocka_unit_test(
            test_once__what_an_enqueued_value_needs_follows_from_it),
    };

    return cmocka_run_group_tests_name("strategy_once", tests, open_env,
                                       close_env);
}
