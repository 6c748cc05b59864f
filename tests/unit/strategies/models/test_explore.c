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
#include "strategies/models/explore.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

enum { COUNT_MAX = 8, ROUNDS = 200 };

/* A space of one parameter, and a step from x in it. */
static struct value step_from(const struct param *param, struct value x,
                              uint64_t round)
{
    struct space *space = space_create(env);
    struct value point;
    struct rng rng;

    assert_int_equal(space_add_param(space, param, NULL), 0);
    rng_init(&rng, 1, round, 1);
    explore_point(space, 0, &rng, &x, &point);
    for (size_t i = 0; i < ARRAY_LEN(spec_words); i++)
        if (value_equal(&point, &spec_words[i]))
            point = spec_words[i]; /* outlives the space */
    space_destroy(space);
    return point;
}

static void test_explore__multiplies_on_the_own_scale(void **state)
{
    static const struct {
        struct param param;
        double from, up, down;
    } rows[] = {
        {SPEC_FLOAT("x", 0, 1, LINEAR), 0.5, 0.6, 0.4},
        {SPEC_FLOAT("x", 0, 1, LINEAR), 0.9, 1, 0.72},
        {SPEC_FLOAT("x", -1, 1, LINEAR), -0.5, -0.6, -0.4},
        {SPEC_FLOAT("x", 1e-4, 1, LOG), 1e-3, 1.2e-3, 0.8e-3},
        {SPEC_FLOAT("x", 1e-4, 1, LOG), 1e-4, 1.2e-4, 1e-4},
        {SPEC_FLOAT("x", 0, 0.999, REVERSE_LOG), 0.9, 0.88, 0.92},
        {SPEC_FLOAT("x", 0.01, 0.99, LOGIT), 0.8, 4.8 / 5.8, 3.2 / 4.2},
        {SPEC_INT("x", 16, 512, 0, LOG), 100, 120, 80},
        {SPEC_INT("x", 16, 512, 16, LINEAR), 160, 192, 128},
        {SPEC_INT("x", 1, 9, 0, LINEAR), 1, 2, 1}, /* to the next one */
        {SPEC_INT("x", 0, 9, 0, LINEAR), 0, 1, 0},
        {SPEC_INT("x", 1, 9, 0, LOG), 2, 3, 1},
        {SPEC_INT("x", 1, 9, 4, LINEAR), 9, 9, 5},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool is_int = rows[i].param.kind == PARAM_INT;
        int ups = 0, downs = 0;

        for (uint64_t round = 0; round < ROUNDS; round++) {
            struct value to = step_from(&rows[i].param,
                                        is_int ? value_int((int)rows[i].from)
                                               : value_real(rows[i].from),
                                        round);
            double x = value_number(&to);

            assert_int_equal(to.type, is_int ? VALUE_INT : VALUE_REAL);
            ups += fabs(x - rows[i].up) < 1e-12;
            downs += fabs(x - rows[i].down) < 1e-12;
        }
        assert_int_equal(ups + downs, ROUNDS);
        assert_in_range(ups, ROUNDS / 3, ROUNDS * 2 / 3);
    }
}

static void test_explore__steps_to_neighbours_and_draws_categories(void **state)
{
    static const struct param ordinal = SPEC_WORDS("x", ORDINAL, 3);
    static const struct param category = SPEC_WORDS("x", CATEGORICAL, 3);
    int seen[3] = {0};

    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct value first = step_from(&ordinal, spec_words[0], round);
        struct value middle = step_from(&ordinal, spec_words[1], round);
        struct value any = step_from(&category, spec_words[1], round);

        assert_string_not_equal(first.text, spec_words[2].text);
        assert_string_not_equal(middle.text, spec_words[1].text);
        for (size_t i = 0; i < 3; i++)
            seen[i] += strcmp(any.text, spec_words[i].text) == 0;
    }
    for (size_t i = 0; i < 3; i++)
        assert_in_range(seen[i], ROUNDS / 5, ROUNDS / 2);
}

static void test_explore__draws_anew_as_often_as_asked(void **state)
{
    static const struct param param = SPEC_FLOAT("x", 0, 1, LINEAR);
    struct space *space = space_create(env);
    struct value parent = value_real(0.5), point;
    int fresh = 0;

    (void)state;
    assert_int_equal(space_add_param(space, &param, NULL), 0);
    for (uint64_t round = 0; round < 1000; round++) {
        struct rng rng;

        rng_init(&rng, 1, round, 1);
        explore_point(space, 0.25, &rng, &parent, &point);
        fresh += fabs(point.real - 0.6) > 1e-9 && fabs(point.real - 0.4) > 1e-9;
    }
    assert_in_range(fresh, 200, 300);
    space_destroy(space);
}

/* On every kind of space, through many generations. */
static void test_explore__satisfies_conditions_and_constraints(void **state)
{
    static const struct strategy_options random = {.method = "random"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        struct space *space = spec_build(&specs[i], env);
        struct strategy *strategy = strategy_create(&random, space, NULL);
        struct value point[COUNT_MAX], next[COUNT_MAX], same[COUNT_MAX];
        bool moves = false;

        assert_int_equal(strategy_ask(strategy, 1, point, NULL, NULL), ASK_OK);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            struct rng rng;

            rng_init(&rng, 7, round, 1);
            explore_point(space, 0.25, &rng, point, next);
            assert_true(space_feasible(space, next));
            memcpy(same, next, sizeof(same));
            space_apply_conditions(space, same);
            for (size_t k = 0; k < space_count(space); k++) {
                const struct param *param = space_param(space, k);
                struct value value;

                assert_true(value_equal(&same[k], &next[k]));
                moves |= !value_equal(&point[k], &next[k]);
                if (next[k].type != VALUE_NULL)
                    assert_int_equal(param_coerce(param, &next[k], &value), 0);
            }
            memcpy(point, next, sizeof(point));
        }
        assert_int_equal(moves, specs[i].points == 0 || specs[i].points > 3);
        strategy_destroy(strategy);
        space_destroy(space);
    }
}

/* "rare" has three points among a million, too far apart for a step. */
static void test_explore__keeps_the_parent_for_want_of_another(void **state)
{
    char copies[2][8] = {"sgd", "sgd"};
    struct space *space = spec_build(&specs[5], env);
    struct value parent[2] = {value_int(7), value_int(9)}, point[2];
    struct param fixed = SPEC_WORDS("x", CONST, 1);
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, 1, 1);
    explore_point(space, 0.25, &rng, parent, point);
    assert_int_equal(point[0].integer, 7);
    assert_int_equal(point[1].integer, 9);
    space_destroy(space);

    /* its texts may go */
    space = space_create(env);
    assert_int_equal(space_add_param(space, &fixed, NULL), 0);
    assert_int_equal(space_add_constraint(space, "x <> 'sgd'", NULL), 0);
    parent[0] = value_text(copies[0]);
    explore_point(space, 0.25, &rng, parent, point);
    memset(copies[0], 'z', sizeof(copies[0]));
    assert_string_equal(point[0].text, copies[1]);
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explore__multiplies_on_the_own_scale),
        cmocka_unit_test(
            test_explore__steps_to_neighbours_and_draws_categories),
        cmocka_unit_test(test_explore__draws_anew_as_often_as_asked),
        cmocka_unit_test(test_explore__satisfies_conditions_and_constraints),
        cmocka_unit_test(test_explore__keeps_the_parent_for_want_of_another),
    };

    return cmocka_run_group_tests(tests, open_env, close_env);
}
