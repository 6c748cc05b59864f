/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/history/hypervolume.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

enum { PARAMS_MAX = 20, SEEDS = 8 };

static const struct value letters[] = {{.type = VALUE_TEXT, .text = "a"},
                                       {.type = VALUE_TEXT, .text = "b"},
                                       {.type = VALUE_TEXT, .text = "c"},
                                       {.type = VALUE_TEXT, .text = "d"}};

static struct space *make_space(size_t count, enum param_kind kind)
{
    struct space *space = space_create(env);
    struct err err = {0};

    for (size_t i = 0; i < count; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        struct param param = {.name = name,
                              .kind = kind,
                              .min = -2,
                              .max = 5,
                              .values = letters,
                              .value_count = ARRAY_LEN(letters)};

        spec_must(space_add_param(space, &param, &err), &err);
    }
    return space;
}

/* A place of chance that is best. */
struct target {
    double unit[PARAMS_MAX];
    size_t count;
};

static struct target make_target(size_t count, uint64_t seed)
{
    struct target target = {.count = count};
    struct rng rng;

    rng_init(&rng, seed, 0, 77);
    for (size_t i = 0; i < count; i++)
        target.unit[i] = 0.05 + 0.9 * rng_uniform(&rng);
    return target;
}

static double distance2(struct space *space, const struct value *point,
                        const struct target *target)
{
    double sum = 0;

    for (size_t i = 0; i < target->count; i++) {
        double u = param_to_unit(space_param(space, i), &point[i]);

        sum += (u - target->unit[i]) * (u - target->unit[i]);
    }
    return sum;
}

/* How many choices are other than the target's. */
static double mismatches(struct space *space, const struct value *point,
                         const struct target *target)
{
    double count = 0;

    for (size_t i = 0; i < target->count; i++) {
        double u = param_to_unit(space_param(space, i), &point[i]);

        count += floor(4 * u) != floor(4 * target->unit[i]);
    }
    return count;
}

typedef double function(struct space *space, const struct value *point,
                        const struct target *target);

static struct strategy *make(const char *method, struct space *space,
                             uint64_t seed)
{
    struct strategy_options options = {.method = method, .seed = seed};

    return strategy_create(&options, space, NULL);
}

static void ask(struct strategy *strategy, uint64_t trial, struct value *point)
{
    struct err err = {0};

    if (strategy_ask(strategy, trial, point, NULL, &err) != ASK_OK)
        fail_msg("trial %llu: %s", (unsigned long long)trial, err.text);
}

static void tell(struct strategy *strategy, uint64_t trial, double value)
{
    strategy_tell(strategy, trial, &(struct trial_result){.values = &value});
}

static double best_of(const char *method, struct space *space, function *f,
                      uint64_t seed, uint64_t trials)
{
    struct target target = make_target(space_count(space), seed);
    struct strategy *strategy = make(method, space, seed);
    struct value point[PARAMS_MAX];
    double best = INFINITY;

    for (uint64_t trial = 1; trial <= trials; trial++) {
        double value;

        ask(strategy, trial, point);
        value = f(space, point, &target);
        best = fmin(best, value);
        tell(strategy, trial, value);
    }
    strategy_destroy(strategy);
    return best;
}

static void test_tpe__is_far_ahead_of_chance_on_shifted_bowls(void **state)
{
    struct space *space = make_space(5, PARAM_FLOAT);
    double decades = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        decades += log10(best_of("random", space, distance2, seed, 70) /
                         best_of("tpe", space, distance2, seed, 70)) /
                   SEEDS;
    if (decades < 1.2)
        fail_msg("only %.2f decades", decades);
    space_destroy(space);
}

static void test_tpe__learns_which_choices_are_good(void **state)
{
    struct space *space = make_space(8, PARAM_CATEGORICAL);
    double left = 0, chance = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        left += best_of("tpe", space, mismatches, seed, 60) / SEEDS;
        chance += best_of("random", space, mismatches, seed, 60) / SEEDS;
    }
    if (left > 0.4 || chance < 1.5)
        fail_msg("%.2f choices are wrong, %.2f by chance", left, chance);
    space_destroy(space);
}

static void test_tpe__learns_numbers_with_steps(void **state)
{
    struct space *space = make_space(6, PARAM_INT);
    double decades = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        decades += log10(best_of("random", space, distance2, seed, 60) /
                         best_of("tpe", space, distance2, seed, 60)) /
                   SEEDS;
    if (decades < 0.7)
        fail_msg("only %.2f decades", decades);
    space_destroy(space);
}

/* Of four branches two have parameters: one b, the other c and d. */
static struct space *make_branches(void)
{
    struct space *space = space_create(env);
    struct err err = {0};
    const struct param params[] = {
        {.name = "branch",
         .kind = PARAM_CATEGORICAL,
         .values = letters,
         .value_count = ARRAY_LEN(letters)},
        {.name = "b", .kind = PARAM_FLOAT, .min = 0, .max = 1},
        {.name = "c", .kind = PARAM_FLOAT, .min = 0, .max = 1},
        {.name = "d", .kind = PARAM_FLOAT, .min = 0, .max = 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(params); i++)
        spec_must(space_add_param(space, &params[i], &err), &err);
    spec_must(space_set_when(space, 1, "branch = 'b'", &err), &err);
    spec_must(space_set_when(space, 2, "branch = 'c'", &err), &err);
    spec_must(space_set_when(space, 3, "branch = 'c'", &err), &err);
    return space;
}

static void test_tpe__finds_the_branch_and_its_best(void **state)
{
    struct space *space = make_branches();
    double decades = 0;
    int right = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct target target = make_target(4, seed);
        struct strategy *strategy = make("tpe", space, seed);
        struct value point[4];
        double best = 1;

        for (uint64_t trial = 1; trial <= 60; trial++) {
            double value = 0.5;

            ask(strategy, trial, point);
            if (strcmp(point[0].text, "b") == 0)
                value = 0.3 + fabs(point[1].real - target.unit[1]);
            if (strcmp(point[0].text, "c") == 0)
                value = fabs(point[2].real - target.unit[2]) +
                        fabs(point[3].real - target.unit[3]);
            right += trial > 40 && strcmp(point[0].text, "c") == 0;
            best = fmin(best, value);
            tell(strategy, trial, value);
        }
        decades += log10(best) / SEEDS;
        strategy_destroy(strategy);
    }
    if (right < 16 * SEEDS || decades > -1.7)
        fail_msg("%d of %d in the right branch; %.2f", right, 20 * SEEDS,
                 decades);
    space_destroy(space);
}

static double distance(const struct value *a, const struct value *b,
                       size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (a[i].real - b[i].real) * (a[i].real - b[i].real) / 49;
    return sqrt(sum);
}

/* The mean distance of 64 pending trials to the nearest other one. */
static double spacing_of_64(struct space *space, bool are_known, uint64_t seed)
{
    enum { RESULTS = 40, PENDING = 64 };
    struct target target = make_target(3, seed);
    struct strategy *strategy = make("tpe", space, seed);
    struct value points[RESULTS + PENDING][3];
    double sum = 0;

    for (uint64_t trial = 1; trial <= RESULTS + PENDING; trial++) {
        const struct value *point = points[trial - 1];

        ask(strategy, trial, points[trial - 1]);
        if (trial <= RESULTS)
            tell(strategy, trial, distance2(space, point, &target));
        else if (!are_known)
            strategy_tell(strategy, trial,
                          &(struct trial_result){.outcome = OUTCOME_CANCELLED});
    }
    for (int i = RESULTS; i < RESULTS + PENDING; i++) {
        double nearest = INFINITY;

        for (int k = RESULTS; k < RESULTS + PENDING; k++)
            if (k != i)
                nearest = fmin(nearest, distance(points[i], points[k], 3));
        sum += nearest / PENDING;
    }
    strategy_destroy(strategy);
    return sum;
}

static void test_tpe__pending_trials_keep_their_distance(void **state)
{
    struct space *space = make_space(3, PARAM_FLOAT);
    double known = 0, unknown = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        known += spacing_of_64(space, true, seed) / SEEDS;
        unknown += spacing_of_64(space, false, seed) / SEEDS;
    }
    if (known < 1.5 * unknown)
        fail_msg("%.4f, and %.4f without knowing them", known, unknown);
    space_destroy(space);
}

/* Where b is above 0.3 of its range, all fails, and the best is just below. */
static void test_tpe__keeps_away_from_what_fails(void **state)
{
    struct space *space = make_space(3, PARAM_FLOAT);
    int failed = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct target target = make_target(3, seed);
        struct strategy *strategy = make("tpe", space, seed);
        struct value point[3];

        target.unit[1] = 0.28;
        for (uint64_t trial = 1; trial <= 80; trial++) {
            double value;

            ask(strategy, trial, point);
            value = distance2(space, point, &target);
            if (param_to_unit(space_param(space, 1), &point[1]) > 0.3)
                value = NAN;
            failed += trial > 50 && isnan(value);
            tell(strategy, trial, value);
        }
        strategy_destroy(strategy);
    }
    if (failed > 15 * SEEDS) /* of 30 */
        fail_msg("%.1f of 30 failed", (double)failed / SEEDS);
    space_destroy(space);
}

/* The best by value breaks the constraint. */
static void test_tpe__satisfies_constraints_on_outcomes(void **state)
{
    struct space *space = make_space(3, PARAM_FLOAT);
    double decades = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct target target = make_target(3, seed);
        struct strategy_options options = {
            .method = "tpe", .seed = seed, .outcome_count = 1};
        struct strategy *strategy = strategy_create(&options, space, NULL);
        struct value point[3];
        double best = 1;

        target.unit[0] = 0.4;
        for (uint64_t trial = 1; trial <= 80; trial++) {
            double value, outcome;

            ask(strategy, trial, point);
            value = distance2(space, point, &target);
            outcome =
                0.4 - param_to_unit(space_param(space, 0), &point[0]) + 0.2;
            if (outcome <= 0) /* 0.04 is the least then */
                best = fmin(best, value - 0.04);
            strategy_tell(
                strategy, trial,
                &(struct trial_result){.values = &value, .outcomes = &outcome});
        }
        decades += log10(best) / SEEDS;
        strategy_destroy(strategy);
    }
    if (decades > -2.2)
        fail_msg("%.2f decades", decades);
    space_destroy(space);
}

/* What the trials' distances to two targets dominate. */
static double volume_of(const char *method, struct space *space, uint64_t seed)
{
    enum { TRIALS = 80 };
    struct target ends[2] = {make_target(4, seed), make_target(4, seed + 100)};
    struct strategy_options options = {
        .method = method, .seed = seed, .objective_count = 2};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct value point[4];
    double values[TRIALS][2], reference[2] = {1.5, 1.5}, volume;

    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        double *mine = values[trial - 1];

        ask(strategy, trial, point);
        for (int k = 0; k < 2; k++)
            mine[k] = sqrt(distance2(space, point, &ends[k]));
        strategy_tell(strategy, trial, &(struct trial_result){.values = mine});
    }
    volume = hypervolume(values[0], TRIALS, 2, reference);
    strategy_destroy(strategy);
    return volume;
}

static void test_tpe__covers_the_front_of_two_objectives(void **state)
{
    struct space *space = make_space(4, PARAM_FLOAT);
    double gain = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        gain += volume_of("tpe", space, seed) /
                volume_of("random", space, seed) / SEEDS;
    if (gain < 1.1) /* 1.25 is all there is */
        fail_msg("%.3f times the volume of random points", gain);
    space_destroy(space);
}

/* The best of `trials` after an earlier run whose best place was another. */
static double best_after(struct space *space, double shift, uint64_t seed,
                         uint64_t trials)
{
    struct target target = make_target(5, seed), earlier = target;
    struct strategy *strategy = make("tpe", space, seed);
    struct value point[5];
    double best = INFINITY;
    struct rng rng;

    for (size_t i = 0; i < 5; i++)
        earlier.unit[i] += earlier.unit[i] < 0.5 ? shift : -shift;
    for (uint64_t k = 0; k < 100; k++) {
        double value;

        rng_init(&rng, seed, k, 78);
        for (size_t i = 0; i < 5; i++)
            point[i] = value_real(-2 + 7 * rng_uniform(&rng));
        value = distance2(space, point, &earlier);
        strategy_add_earlier(strategy, point,
                             &(struct trial_result){.values = &value}, false);
    }
    for (uint64_t trial = 1; trial <= trials; trial++) {
        double value;

        ask(strategy, trial, point);
        value = distance2(space, point, &target);
        best = fmin(best, value);
        tell(strategy, trial, value);
    }
    strategy_destroy(strategy);
    return best;
}

static void test_tpe__earlier_runs_guide_and_do_not_bind(void **state)
{
    struct space *space = make_space(5, PARAM_FLOAT);
    double head_start = 0, misled = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        head_start += log10(best_of("tpe", space, distance2, seed, 15) /
                            best_after(space, 0.05, seed, 15)) /
                      SEEDS;
        misled += log10(best_of("random", space, distance2, seed, 80) /
                        best_after(space, 0.4, seed, 80)) /
                  SEEDS;
    }
    if (head_start < 0.2 || misled < 0.8)
        fail_msg("%.2f decades ahead, %.2f when misled", head_start, misled);
    space_destroy(space);
}

static void test_tpe__thousands_of_results_are_no_burden(void **state)
{
    enum { RESULTS = 20000, ASKS = 5 };
    struct space *space = make_space(20, PARAM_FLOAT);
    struct target target = make_target(20, 3);
    struct strategy *strategy = make("tpe", space, 1);
    struct value point[PARAMS_MAX];
    struct rng rng;
    clock_t start;
    double seconds;

    (void)state;
    for (uint64_t k = 0; k < RESULTS; k++) {
        double value;

        rng_init(&rng, 2, k, 1);
        for (size_t i = 0; i < 20; i++)
            point[i] = value_real(-2 + 7 * rng_uniform(&rng));
        value = distance2(space, point, &target);
        strategy_add_earlier(strategy, point,
                             &(struct trial_result){.values = &value}, true);
    }
    start = clock();
    for (uint64_t trial = 1; trial <= ASKS; trial++) {
        ask(strategy, trial, point);
        tell(strategy, trial, distance2(space, point, &target));
    }
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds > 2) /* with sanitizers */
        fail_msg("%d suggestions took %.1f s", ASKS, seconds);
    strategy_destroy(strategy);
    space_destroy(space);
}

/* With eight at a time: results 1 to 4 and trials 5 to 11 are enough. */
static void test_tpe__pending_trials_count_as_startup(void **state)
{
    enum { PARALLEL = 8, STARTUP = 11 };
    struct space *space = make_space(3, PARAM_FLOAT);
    struct target target = make_target(3, 5);
    struct strategy *strategy = make("tpe", space, 1);
    struct suggestion suggestion;
    struct value points[20][3];

    (void)state;
    for (uint64_t trial = 1; trial <= ARRAY_LEN(points); trial++) {
        uint64_t done = trial - PARALLEL;

        if (trial > PARALLEL)
            tell(strategy, done, distance2(space, points[done - 1], &target));
        assert_int_equal(
            strategy_ask(strategy, trial, points[trial - 1], &suggestion, NULL),
            ASK_OK);
        assert_string_equal(suggestion.reason.step,
                            trial <= STARTUP ? "startup" : "tpe");
    }
    strategy_destroy(strategy);
    space_destroy(space);
}

static void test_tpe__gives_its_reasons(void **state)
{
    struct space *space = make_space(3, PARAM_FLOAT);
    struct target target = make_target(3, 5);
    struct strategy *strategy = make("tpe", space, 1);
    struct suggestion suggestion;
    struct value point[3];
    double best = INFINITY;
    uint64_t incumbent = 0;

    (void)state;
    for (uint64_t trial = 1; trial <= 30; trial++) {
        double value;

        assert_int_equal(
            strategy_ask(strategy, trial, point, &suggestion, NULL), ASK_OK);
        assert_string_equal(suggestion.reason.step,
                            trial <= 10 ? "startup" : "tpe");
        if (trial > 10) {
            assert_true(isfinite(suggestion.reason.acquisition));
            assert_int_equal(suggestion.reason.incumbent, incumbent);
            assert_non_null(strstr(suggestion.reason.note, " best of "));
        }
        value = distance2(space, point, &target);
        if (value < best) {
            best = value;
            incumbent = trial;
        }
        tell(strategy, trial, value);
    }
    strategy_destroy(strategy);
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tpe__is_far_ahead_of_chance_on_shifted_bowls),
        cmocka_unit_test(test_tpe__learns_which_choices_are_good),
        cmocka_unit_test(test_tpe__learns_numbers_with_steps),
        cmocka_unit_test(test_tpe__finds_the_branch_and_its_best),
        cmocka_unit_test(test_tpe__pending_trials_keep_their_distance),
        cmocka_unit_test(test_tpe__keeps_away_from_what_fails),
        cmocka_unit_test(test_tpe__satisfies_constraints_on_outcomes),
        cmocka_unit_test(test_tpe__covers_the_front_of_two_objectives),
        cmocka_unit_test(test_tpe__earlier_runs_guide_and_do_not_bind),
        cmocka_unit_test(test_tpe__thousands_of_results_are_no_burden),
        cmocka_unit_test(test_tpe__pending_trials_count_as_startup),
        cmocka_unit_test(test_tpe__gives_its_reasons),
    };

    return cmocka_run_group_tests_name("tpe", tests, open_env, close_env);
}
