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

#include "base/rng.h"
#include "strategies/history/history.h"
#include "strategies/history/hypervolume.h"
#include "strategies/models/variation.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

enum { DIMENSION = 8, TRIALS = 400, OBJECTIVES_MAX = 3 };

static struct space *make_cube(void)
{
    struct space *space = space_create(env);

    for (int i = 0; i < DIMENSION; i++) {
        char name[24];
        struct param param = {.name = name, .kind = PARAM_FLOAT, .max = 1};

        snprintf(name, sizeof(name), "x%d", i);
        assert_int_equal(space_add_param(space, &param, NULL), 0);
    }
    return space;
}

struct front {
    const char *name;
    size_t objectives;
    void (*values)(const double *z, double *values);
    double reference[OBJECTIVES_MAX];
    double least_gain; /* a fifth of what random leaves to be had, or so */
};

/* E. Zitzler, K. Deb, L. Thiele, Evol. Comput. 8(2), 2000, ZDT1; z is how far
 * a point is from where the best ones are. */
static void zdt1(const double *z, double *values)
{
    double g = 1, x = fabs(z[0]);

    for (size_t i = 1; i < DIMENSION; i++)
        g += 9 * fabs(z[i]) / (DIMENSION - 1);
    values[0] = x;
    values[1] = g * (1 - sqrt(x / g));
}

/* K. Deb et al., "Scalable multi-objective optimization test problems", CEC
 * 2002, DTLZ2. */
static void dtlz2(const double *z, double *values)
{
    double g = 1, a = fabs(z[0]) * M_PI / 2, b = fabs(z[1]) * M_PI / 2;

    for (size_t i = 2; i < DIMENSION; i++)
        g += 4 * z[i] * z[i];
    values[0] = g * cos(a) * cos(b);
    values[1] = g * cos(a) * sin(b);
    values[2] = g * sin(a);
}

static const struct front fronts[] = {
    {"zdt1", 2, zdt1, {1, 4}, 0.2},
    {"dtlz2", 3, dtlz2, {2, 2, 2}, 0.2},
};

/* What the trials dominate in the end. */
static double volume_of(const char *method, const struct front *front,
                        size_t parallel, uint64_t seed)
{
    struct space *space = make_cube();
    struct strategy_options options = {.method = method,
                                       .seed = seed,
                                       .budget_trials = TRIALS,
                                       .parallel = parallel,
                                       .objective_count = front->objectives};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    double *values = calloc(TRIALS * front->objectives, sizeof(*values));
    double shift[DIMENSION], volume;
    struct rng rng;

    rng_init(&rng, seed, 1, 97);
    for (size_t i = 0; i < DIMENSION; i++)
        shift[i] = 0.1 + 0.8 * rng_uniform(&rng);
    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        double *row = values + (trial - 1) * front->objectives;
        struct value point[DIMENSION];
        double z[DIMENSION];

        assert_int_equal(strategy_ask(strategy, trial, point, NULL, NULL),
                         ASK_OK);
        for (size_t i = 0; i < DIMENSION; i++)
            z[i] = point[i].real - shift[i];
        front->values(z, row);
        if (trial >= parallel)
            strategy_tell(
                strategy, trial - parallel + 1,
                &(struct trial_result){.values = row - (parallel - 1) *
                                                           front->objectives});
    }
    volume = hypervolume(values, TRIALS, front->objectives, front->reference);
    free(values);
    strategy_destroy(strategy);
    space_destroy(space);
    return volume;
}

/* Also with many pending, when children have old parents. */
static void test_nsga2__dominates_more_than_random(void **state)
{
    static const size_t pending[] = {1, 8, 64};

    (void)state;
    for (size_t f = 0; f < ARRAY_LEN(fronts); f++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            double random = volume_of("random", &fronts[f], 1, seed);
            double least = volume_of("nsga2", &fronts[f], 1, seed);

            /* half of random's gap to more than can be had */
            assert_true(least > random * 1.1);
            for (size_t i = 1; i < ARRAY_LEN(pending); i++)
                assert_true(volume_of("nsga2", &fronts[f], pending[i], seed) >
                            random);
        }
}

static void test_variation__stays_within_bounds(void **state)
{
    struct space *space = spec_build(&specs[1], env); /* mixed */
    size_t count = space_count(space);
    double mother[16], father[16], child[16];
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, 1, 96);
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < count; i++) {
            mother[i] = round % 3 == 0 ? round % 2 : rng_uniform(&rng);
            father[i] = rng_uniform(&rng);
        }
        variation_cross(space, mother, father, &rng, child);
        for (size_t i = 0; i < count; i++) {
            const struct param *param = space_param(space, i);

            assert_true(child[i] >= 0 && child[i] <= 1);
            if (param->kind == PARAM_CATEGORICAL)
                assert_true(child[i] == mother[i] || child[i] == father[i]);
        }
        variation_mutate(space, 0.5, &rng, child);
        for (size_t i = 0; i < count; i++)
            assert_true(child[i] >= 0 && child[i] <= 1);
    }
    space_destroy(space);
}

/* The mean of children is that of their parents, also near a bound. */
static void test_variation__favours_no_place(void **state)
{
    struct space *space = make_cube();
    double mother[DIMENSION], father[DIMENSION], child[DIMENSION];
    double sum = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, 1, 96);
    for (size_t i = 0; i < DIMENSION; i++) {
        mother[i] = 0.2;
        father[i] = 0.3;
    }
    for (int round = 0; round < 5000; round++) {
        variation_cross(space, round % 2 ? mother : father,
                        round % 2 ? father : mother, &rng, child);
        for (size_t i = 0; i < DIMENSION; i++)
            sum += child[i] / (5000. * DIMENSION);
    }
    assert_true(fabs(sum - 0.25) < 0.002);
    space_destroy(space);
}

static void test_variation__always_changes_something(void **state)
{
    struct space *space = spec_build(&specs[4], env); /* finite */
    struct value before[4], after[4];
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, 1, 96);
    for (int round = 0; round < 5000; round++) {
        double child[4] = {0.5, 0.5, NAN, 0.25};
        double again[4] = {0.5, 0.5, 0, 0.25};
        bool differs = false;

        variation_mutate(space, 0, &rng, child);
        assert_false(isnan(child[2]));
        child[2] = 0;
        for (size_t i = 0; i < 4; i++) {
            before[i] = param_from_unit(space_param(space, i), again[i]);
            after[i] = param_from_unit(space_param(space, i), child[i]);
            differs |= !value_equal(&before[i], &after[i]);
        }
        assert_true(differs);
    }
    space_destroy(space);
}

static void test_variation__takes_what_one_parent_has(void **state)
{
    struct space *space = spec_build(&specs[2], env); /* nested */
    double mother[5] = {NAN, 0.5, NAN, NAN, NAN};
    double father[5] = {NAN, 0.5, 0.25, 0.75, 0.5}, child[5];
    struct rng rng;

    (void)state;
    rng_init(&rng, 4, 1, 96);
    variation_cross(space, mother, father, &rng, child);
    assert_true(isnan(child[0]));
    assert_true(child[2] == 0.25 && child[3] == 0.75 && child[4] == 0.5);
    space_destroy(space);
}

static void test_nsga2__is_quick_when_told_much(void **state)
{
    struct space *space = make_cube();
    struct strategy_options options = {.method = "nsga2", .objective_count = 3};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct value point[DIMENSION];
    struct rng rng;
    clock_t start;

    (void)state;
    rng_init(&rng, 5, 1, 96);
    for (uint64_t trial = 1; trial <= 20000; trial++) {
        double values[3];

        for (size_t i = 0; i < DIMENSION; i++)
            point[i] = value_real(rng_uniform(&rng));
        for (size_t i = 0; i < 3; i++)
            values[i] = rng_uniform(&rng);
        strategy_restore(strategy, trial, point, 0);
        strategy_tell(strategy, trial,
                      &(struct trial_result){.values = values});
    }
    start = clock();
    assert_int_equal(strategy_ask(strategy, 20001, point, NULL, NULL), ASK_OK);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    strategy_destroy(strategy);
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nsga2__dominates_more_than_random),
        cmocka_unit_test(test_nsga2__is_quick_when_told_much),
        cmocka_unit_test(test_variation__stays_within_bounds),
        cmocka_unit_test(test_variation__favours_no_place),
        cmocka_unit_test(test_variation__always_changes_something),
        cmocka_unit_test(test_variation__takes_what_one_parent_has),
    };

    return cmocka_run_group_tests_name("nsga2", tests, open_env, close_env);
}
