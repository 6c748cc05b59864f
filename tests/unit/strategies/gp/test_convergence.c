/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/convergence.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/expr/expr.h"
#include "base/rng.h"
#include "tests/unit/strategies/spaces.h"

enum { LOOKS = 5, FIRST = 20 };

static const struct param square[] = {SPEC_FLOAT("a", -1, 1, LINEAR),
                                      SPEC_FLOAT("b", -1, 1, LINEAR)};
static const struct param few[] = {SPEC_INT("a", 1, 5, 0, LINEAR),
                                   SPEC_INT("b", 1, 5, 0, LINEAR)};
static const struct param many[] = {
    SPEC_FLOAT("a", 0, 1, LINEAR), SPEC_FLOAT("b", 0, 1, LINEAR),
    SPEC_FLOAT("c", 0, 1, LINEAR), SPEC_FLOAT("d", 0, 1, LINEAR),
    SPEC_FLOAT("e", 0, 1, LINEAR), SPEC_FLOAT("f", 0, 1, LINEAR)};
static const struct spec bowl = {.params = square, .param_count = 2};
static const struct spec grid = {.params = few, .param_count = 2};
static const struct spec wide = {.params = many, .param_count = 6};

/* Points that one is told of, and what they come to. */
struct search {
    struct expr_env *env;
    struct space *space;
    struct convergence *convergence;
    uint64_t trials;
};

static void begin(struct search *search, const struct spec *spec,
                  double improvement)
{
    const struct convergence_options options = {.improvement = improvement};
    struct err err;

    search->env = expr_env_create(&err);
    search->space = spec_build(spec, search->env);
    search->convergence = convergence_create(&options, search->space);
    search->trials = 0;
}

static void end(struct search *search)
{
    convergence_destroy(search->convergence);
    space_destroy(search->space);
    expr_env_destroy(search->env);
}

static void tell(struct search *search, const struct value *point, double value)
{
    convergence_ask(search->convergence, ++search->trials, point);
    convergence_tell(
        search->convergence, search->trials,
        &(struct trial_result){.outcome = OUTCOME_COMPLETE, .values = &value});
}

/* A bowl whose lowest point is in (0, 0), seen from closer and closer. */
static void tell_bowl(struct search *search, double offset)
{
    double radius = pow(0.85, (double)search->trials);
    double angle = 2.4 * (double)search->trials;
    double a = radius * cos(angle), b = radius * sin(angle);
    const struct value point[] = {value_real(a), value_real(b)};

    tell(search, point, offset + a * a + b * b);
}

static void test_convergence__a_bowl_that_was_searched(void **state)
{
    struct search search;

    (void)state;
    begin(&search, &bowl, 0.01);
    while (search.trials < FIRST + LOOKS - 2) {
        tell_bowl(&search, 1);
        assert_false(convergence_reached(search.convergence));
    }
    while (search.trials < 60 && !convergence_reached(search.convergence))
        tell_bowl(&search, 1);
    assert_in_range(search.trials, FIRST + LOOKS - 1, 40);
    end(&search);
}

/* A value in the middle of nothing, and everywhere else unknown. */
static void test_convergence__not_where_much_is_unknown(void **state)
{
    struct search search;
    struct rng rng;

    (void)state;
    begin(&search, &wide, 0.01);
    rng_init(&rng, 1, 0, 0);
    while (search.trials < 40) {
        struct value point[6];
        double value = 0;

        for (size_t i = 0; i < 6; i++) {
            point[i] = value_real(rng_uniform(&rng));
            value += fabs(point[i].real - 0.3) + sin(9 * point[i].real);
        }
        tell(&search, point, value);
        assert_false(convergence_reached(search.convergence));
    }
    end(&search);
}

static void test_convergence__not_by_an_improvement_of_nothing(void **state)
{
    struct search search;

    (void)state;
    begin(&search, &bowl, 0);
    while (search.trials < 40) {
        tell_bowl(&search, 1);
        assert_false(convergence_reached(search.convergence));
    }
    end(&search);
}

/* No share of a best value of 0 is small, but one of the results' spread is. */
static void test_convergence__towards_zero(void **state)
{
    struct search search;

    (void)state;
    begin(&search, &bowl, 0.01);
    while (search.trials < 100 && !convergence_reached(search.convergence))
        tell_bowl(&search, 0);
    assert_in_range(search.trials, FIRST + LOOKS - 1, 80);
    end(&search);
}

static void test_convergence__when_everything_was_tried(void **state)
{
    struct search search;

    (void)state;
    begin(&search, &grid, 0.01);
    for (int i = 0; i < 25; i++) {
        const struct value point[] = {value_int(1 + i / 5),
                                      value_int(1 + i % 5)};

        tell(&search, point, 1 + (i * 7 % 25));
        if (i < 24)
            assert_false(convergence_reached(search.convergence));
    }
    for (int i = 0; i < LOOKS && !convergence_reached(search.convergence);
         i++) {
        const struct value point[] = {value_int(1), value_int(1)};

        tell(&search, point, 1);
    }
    assert_true(convergence_reached(search.convergence));
    end(&search);
}

/* An engine that comes back tells everything before it asks. */
static void test_convergence__asked_late_it_is_the_same(void **state)
{
    struct search eager, late;

    (void)state;
    begin(&eager, &bowl, 0.01);
    while (!convergence_reached(eager.convergence))
        tell_bowl(&eager, 1);
    for (uint64_t most = eager.trials - 1; most <= eager.trials; most++) {
        begin(&late, &bowl, 0.01);
        while (late.trials < most)
            tell_bowl(&late, 1);
        assert_int_equal(convergence_reached(late.convergence),
                         most == eager.trials);
        end(&late);
    }
    end(&eager);
}

/* Failures and what was forgotten are no results to go by. */
static void test_convergence__failures(void **state)
{
    const struct value point[] = {value_real(0), value_real(0)};
    struct search search;

    (void)state;
    begin(&search, &bowl, 0.01);
    for (int i = 0; i < 60; i++) {
        convergence_ask(search.convergence, ++search.trials, point);
        convergence_tell(
            search.convergence, search.trials,
            &(struct trial_result){.outcome = i % 2 == 0 ? OUTCOME_FAILED
                                                         : OUTCOME_CANCELLED});
        assert_false(convergence_reached(search.convergence));
    }
    end(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convergence__a_bowl_that_was_searched),
        cmocka_unit_test(test_convergence__not_where_much_is_unknown),
        cmocka_unit_test(test_convergence__not_by_an_improvement_of_nothing),
        cmocka_unit_test(test_convergence__towards_zero),
        cmocka_unit_test(test_convergence__when_everything_was_tried),
        cmocka_unit_test(test_convergence__asked_late_it_is_the_same),
        cmocka_unit_test(test_convergence__failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
