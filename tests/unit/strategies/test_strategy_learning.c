/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/history/history.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/sample.h"
#include "tests/unit/strategies/spaces.h"

/*
 * What every method must keep to when results come: whatever it is told, in
 * whatever order, and also when it is taken up from the record.
 */

enum { TRIALS = 48, PARALLEL = 5, VALUES_MAX = 64, PATTERNS = 8 };

static const char *const methods[] = {"auto", "random", "sobol", "bayesian",
                                      "tpe",  "cmaes",  "nsga2"};

/* Fewer of those that think for milliseconds, many times that under the
 * sanitizers. */
static const struct {
    const char *method;
    size_t trials;
    int pattern_step;
} slow_methods[] = {{"auto", 18, 8}, {"bayesian", 14, 6}, {"tpe", 30, 2}};

static size_t trials_of(const char *method)
{
    for (size_t i = 0; i < ARRAY_LEN(slow_methods); i++)
        if (strcmp(slow_methods[i].method, method) == 0)
            return slow_methods[i].trials;
    return TRIALS;
}

/* Of a sample, one pattern a space. */
static int pattern_step_of(const char *method)
{
    if (is_sample())
        return PATTERNS;
    for (size_t i = 0; i < ARRAY_LEN(slow_methods); i++)
        if (strcmp(slow_methods[i].method, method) == 0)
            return slow_methods[i].pattern_step;
    return 1;
}

static struct strategy *make(const char *method, struct space *space,
                             size_t objectives)
{
    struct strategy_options options = {
        .method = method,
        .seed = 7,
        /* without one, auto leaves nothing to a grid, which would end */
        .budget_trials = strcmp(method, "auto") == 0 ? 0 : trials_of(method),
        .parallel = PARALLEL,
        .objective_count = objectives,
    };
    struct err err = {0};
    struct strategy *strategy = strategy_create(&options, space, &err);

    if (strategy == NULL)
        fail_msg("%s: %s", method, err.text);
    return strategy;
}

static void ask(struct strategy *strategy, uint64_t trial, struct value *point,
                struct suggestion *suggestion)
{
    struct err err = {0};

    if (strategy_ask(strategy, trial, point, suggestion, &err) != ASK_OK)
        fail_msg("trial %llu: %s", (unsigned long long)trial, err.text);
}

static double plain_value(struct space *space, const struct value *point)
{
    double sum = 0;

    for (size_t i = 0; i < space_count(space); i++) {
        double u = point[i].type == VALUE_NULL
                       ? 0.2
                       : param_to_unit(space_param(space, i), &point[i]);

        sum += (u - 0.3) * (u - 0.3) * (double)(i + 1);
    }
    return sum;
}

/* Results that no model expects, by trial. */
static struct trial_result hostile(int pattern, uint64_t trial, double *values)
{
    static const double odd[] = {1e300, -1e300, 1e-300, 0, 3, 3, 3, 1e18};
    struct trial_result result = {.values = values};
    bool is_odd = trial % 3 == 0;

    values[0] = 1.5;
    values[1] = -values[0];
    switch (pattern) {
    case 0: /* all equal */
        break;
    case 1:
        result.outcome = OUTCOME_FAILED;
        result.values = NULL;
        break;
    case 2:
        values[0] = values[1] = odd[trial % ARRAY_LEN(odd)];
        break;
    case 3:
        values[0] = is_odd ? (double)NAN : (double)trial;
        break;
    case 4:
        values[0] = is_odd           ? (double)INFINITY
                    : trial % 3 == 1 ? -(double)INFINITY
                                     : 2;
        break;
    case 5:
        result.outcome = (enum trial_outcome)(trial % 4);
        values[0] = (double)(trial % 7);
        break;
    case 6:
        values[0] = exp((double)(trial % 40) * 15);
        break;
    default:
        values[0] = 1e-300 * (double)trial;
        break;
    }
    return result;
}

static void survive(const char *method, const struct spec *spec, int pattern,
                    size_t objectives)
{
    struct space *space = spec_build(spec, env);
    struct strategy *strategy = make(method, space, objectives);
    struct value point[VALUES_MAX];
    struct suggestion suggestion;
    double values[2];

    for (uint64_t trial = 1; trial <= trials_of(method); trial++) {
        struct trial_result result;

        ask(strategy, trial, point, &suggestion);
        assert_true(space_feasible(space, point));
        assert_non_null(suggestion.reason.method);
        if (trial < PARALLEL)
            continue;
        result = hostile(pattern, trial + 1 - PARALLEL, values);
        strategy_tell(strategy, trial + 1 - PARALLEL, &result);
    }
    strategy_destroy(strategy);
    space_destroy(space);
}

static void test_learning__survives_whatever_it_is_told(void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++)
        for (size_t s = 0; s < ARRAY_LEN(specs); s++)
            for (int pattern = (int)s % pattern_step_of(methods[m]);
                 pattern < PATTERNS; pattern += pattern_step_of(methods[m]))
                survive(methods[m], &specs[s], pattern, 1);
}

static void test_learning__survives_it_with_two_objectives(void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++)
        for (int pattern = 0; pattern < PATTERNS;
             pattern += is_sample() ? PATTERNS / 2 : 1) {
            survive(methods[m], &specs[1], pattern, 2);
            survive(methods[m], &specs[2], pattern, 2);
        }
}

/* A run with PARALLEL pending trials that end in an order of chance; with
 * retells, some that are over come to another end. */
struct record {
    struct value points[TRIALS][VALUES_MAX];
    struct suggestion suggestions[TRIALS];
    size_t known[TRIALS];      /* told_count when it was asked for */
    uint64_t told[2 * TRIALS]; /* trials in the order told */
    double values[TRIALS];     /* by trial */
    size_t asked, told_count;
    bool retells;
};

static void tell_next(struct strategy *strategy, struct record *record)
{
    uint64_t trial = record->told[record->told_count];
    double value = record->values[trial - 1];
    bool is_first = true;

    for (size_t i = 0; i < record->told_count; i++) {
        if (record->told[i] != trial)
            continue;
        is_first = false;
        value += 0.01;
    }
    record->told_count++;
    strategy_tell(strategy, trial,
                  &(struct trial_result){.outcome = trial % 11 == 0 && is_first
                                                        ? OUTCOME_FAILED
                                                        : OUTCOME_COMPLETE,
                                         .values = &value});
}

static void run_on(struct strategy *strategy, struct space *space,
                   struct record *record, size_t until)
{
    struct rng rng;

    for (size_t i = record->asked; i < until; i++) {
        uint64_t open[TRIALS];
        size_t open_count = 0;

        ask(strategy, i + 1, record->points[i], &record->suggestions[i]);
        record->known[i] = record->told_count;
        record->values[i] = plain_value(space, record->points[i]);
        record->asked++;
        for (uint64_t trial = 1; trial <= i + 1; trial++) {
            size_t k = 0;

            while (k < record->told_count && record->told[k] != trial)
                k++;
            if (k == record->told_count)
                open[open_count++] = trial;
        }
        rng_init(&rng, 5, i, 0);
        if (open_count < PARALLEL)
            continue;
        record->told[record->told_count] = open[rng_below(&rng, open_count)];
        tell_next(strategy, record);
        if (!record->retells || rng_below(&rng, 3) > 0)
            continue;
        record->told[record->told_count] =
            record->told[rng_below(&rng, record->told_count)];
        tell_next(strategy, record);
    }
}

/* As an engine does that finds the record of another. */
static void take_up(struct strategy *strategy, struct record *record,
                    const struct record *whole, size_t kept)
{
    *record = *whole;
    record->asked = kept;
    record->told_count = 0;
    for (size_t i = 0; i < kept; i++) {
        while (record->told_count < whole->known[i])
            tell_next(strategy, record);
        strategy_restore(strategy, i + 1, whole->points[i],
                         whole->suggestions[i].cursor);
    }
    while (kept < whole->asked && record->told_count < whole->known[kept])
        tell_next(strategy, record);
}

static void goes_on_the_same(const char *method, const struct spec *spec,
                             bool retells)
{
    static const size_t cuts[] = {1, 6, 19, 40};
    size_t step = is_sample() ? 2 : 1;
    size_t trials = trials_of(method);
    struct space *space = spec_build(spec, env);
    struct strategy *strategy = make(method, space, 1);
    struct record *whole = calloc(1, sizeof(*whole));
    struct record *again = calloc(1, sizeof(*again));

    whole->retells = retells;
    run_on(strategy, space, whole, trials);
    strategy_destroy(strategy);
    for (size_t c = step - 1; c < ARRAY_LEN(cuts) && cuts[c] < trials;
         c += step) {
        strategy = make(method, space, 1);
        take_up(strategy, again, whole, cuts[c]);
        run_on(strategy, space, again, trials);
        strategy_destroy(strategy);
        for (size_t i = 0; i < trials; i++) {
            assert_int_equal(again->suggestions[i].told,
                             whole->suggestions[i].told);
            for (size_t k = 0; k < space_count(space); k++)
                if (!value_equal(&again->points[i][k], &whole->points[i][k]))
                    fail_msg("%s on %s: trial %zu differs after a restart "
                             "at %zu",
                             method, spec->name, i + 1, cuts[c]);
        }
    }
    free(whole);
    free(again);
    space_destroy(space);
}

static void test_learning__goes_on_the_same_after_a_restart(void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++)
        for (size_t s = is_sample() ? m % 3 : 0; s < ARRAY_LEN(specs);
             s += is_sample() ? 3 : 1)
            goes_on_the_same(methods[m], &specs[s], false);
}

static void test_learning__goes_on_the_same_when_trials_were_run_again(
    void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++)
        for (size_t s = m % 4; s < ARRAY_LEN(specs); s += 4)
            goes_on_the_same(methods[m], &specs[s], true);
}

/* As if the first result had never been told. */
static void test_learning__the_last_result_of_a_trial_counts(void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        struct space *space = spec_build(&specs[1], env);
        struct strategy *twice = make(methods[m], space, 1);
        struct strategy *once = make(methods[m], space, 1);
        struct value point[VALUES_MAX], other[VALUES_MAX];
        double value = 1e9;

        for (uint64_t trial = 1; trial <= 12; trial++) {
            ask(twice, trial, point, NULL);
            ask(once, trial, other, NULL);
        }
        strategy_tell(twice, 1, &(struct trial_result){.values = &value});
        for (uint64_t i = 2; i <= 13; i++) {
            uint64_t trial = i == 13 ? 1 : i;

            value = (double)(trial * trial % 7);
            strategy_tell(once, trial,
                          &(struct trial_result){.values = &value});
            strategy_tell(twice, trial,
                          &(struct trial_result){.values = &value});
        }
        ask(twice, 13, point, NULL);
        ask(once, 13, other, NULL);
        if (strategy_learns(twice))
            assert_int_equal(strategy_history(twice)->complete_count, 12);
        for (size_t k = 0; k < space_count(space); k++)
            assert_true(value_equal(&point[k], &other[k]));
        strategy_destroy(twice);
        strategy_destroy(once);
        space_destroy(space);
    }
}

static void test_learning__what_is_enqueued_comes_first(void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        struct space *space = spec_build(&specs[2], env); /* nested */
        struct strategy *strategy = make(methods[m], space, 1);
        struct value first[VALUES_MAX] = {{0}}, point[VALUES_MAX];

        first[1] = value_text("sgd");
        first[2] = value_real(0.25);
        assert_int_equal(strategy_enqueue(strategy, first, NULL), 0);
        first[1] = value_text("none");
        first[2] = value_null();
        assert_int_equal(strategy_enqueue(strategy, first, NULL), 0);
        ask(strategy, 1, point, NULL);
        assert_string_equal(point[1].text, "sgd");
        assert_true(point[2].real == 0.25);
        assert_int_equal(point[3].type, VALUE_NULL); /* momentum <= 0.5 */
        ask(strategy, 2, point, NULL);
        assert_string_equal(point[1].text, "none");
        assert_int_equal(point[2].type, VALUE_NULL);
        ask(strategy, 3, point, NULL);
        strategy_destroy(strategy);
        space_destroy(space);
    }
}

/* What it leaves out hangs on its id, not on when it is tried. */
static void test_learning__a_wish_is_fulfilled_by_the_next_trial(void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        struct space *space = spec_build(&specs[2], env); /* nested */
        struct strategy *early = make(methods[m], space, 1);
        struct strategy *late = make(methods[m], space, 1);
        struct value wish[VALUES_MAX] = {{0}};
        struct value point[VALUES_MAX], other[VALUES_MAX];
        struct suggestion suggestion;

        wish[1] = value_text("sgd");
        wish[2] = value_real(0.75);
        assert_int_equal(strategy_wish(early, 5, wish, NULL), 0);
        ask(early, 1, point, &suggestion);
        assert_int_equal(suggestion.wish, 5);
        assert_string_equal(suggestion.reason.method, "enqueue");
        assert_string_equal(point[1].text, "sgd");
        assert_true(point[2].real == 0.75);
        ask(early, 2, other, &suggestion);
        assert_int_equal(suggestion.wish, 0);

        ask(late, 1, other, NULL);
        ask(late, 2, other, NULL);
        assert_int_equal(strategy_wish(late, 5, wish, NULL), 0);
        wish[2] = value_real(0.25);
        assert_int_equal(strategy_wish(late, 6, wish, NULL), 0);
        assert_int_equal(strategy_wish_count(late), 2);
        ask(late, 3, other, &suggestion);
        assert_int_equal(suggestion.wish, 5);
        for (size_t k = 0; k < space_count(space); k++)
            assert_true(value_equal(&point[k], &other[k]));
        ask(late, 4, other, &suggestion);
        assert_int_equal(suggestion.wish, 6);
        assert_int_equal(other[3].type, VALUE_NULL); /* momentum <= 0.5 */
        assert_int_equal(strategy_wish_count(late), 0);
        strategy_destroy(early);
        strategy_destroy(late);
        space_destroy(space);
    }
}

static void test_learning__a_wish_that_cannot_be_is_refused(void **state)
{
    struct space *disc = spec_build(&specs[3], env);
    struct space *rare = spec_build(&specs[5], env);
    struct strategy *strategy = make("random", disc, 1);
    struct value wish[VALUES_MAX] = {{0}};
    struct err err = {0};

    (void)state;
    wish[0] = wish[3] = value_real(0.9); /* outside of the disc */
    assert_int_equal(strategy_wish(strategy, 1, wish, &err), -1);
    assert_int_equal(err.kind, ERR_USAGE);
    wish[0] = value_real(0.1);
    wish[3] = value_null();
    wish[1] = value_real(1.0); /* and b < c <= 0.999 */
    assert_int_equal(strategy_wish(strategy, 1, wish, &err), -1);
    assert_int_equal(strategy_wish_count(strategy), 0);
    strategy_destroy(strategy);
    strategy = make("random", rare, 1);
    wish[0] = value_int(8);
    wish[1] = value_null();
    assert_int_equal(strategy_wish(strategy, 1, wish, &err), -1);
    strategy_destroy(strategy);
    space_destroy(disc);
    space_destroy(rare);
}

static void test_learning__earlier_trials_that_bind_do_not_come_again(
    void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        struct space *space = spec_build(&specs[4], env); /* finite */
        struct strategy *whole = make(methods[m], space, 1);
        struct strategy *rest = make(methods[m], space, 1);
        struct value point[VALUES_MAX];
        uint64_t earlier[20];
        double value = 1;

        for (uint64_t trial = 1; trial <= 20; trial++) {
            ask(whole, trial, point, NULL);
            earlier[trial - 1] = space_hash(space, point);
            strategy_add_earlier(
                rest, point, &(struct trial_result){.values = &value}, true);
        }
        for (int trial = 1; trial <= specs[4].points - 20; trial++) {
            ask(rest, (uint64_t)trial, point, NULL);
            for (size_t i = 0; i < 20; i++)
                assert_true(space_hash(space, point) != earlier[i]);
        }
        strategy_destroy(whole);
        strategy_destroy(rest);
        space_destroy(space);
    }
}

static void test_learning__replicates_come_in_a_row(void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        struct space *space = spec_build(&specs[4], env);
        struct strategy_options options = {
            .method = methods[m],
            .duplicates = DUPLICATES_REPLICATE,
            .replicates = 3,
        };
        struct strategy *strategy = strategy_create(&options, space, NULL);
        struct value point[VALUES_MAX];
        uint64_t last = 0;

        for (uint64_t trial = 1; trial <= 30; trial++) {
            uint64_t hash;

            ask(strategy, trial, point, NULL);
            hash = space_hash(space, point);
            assert_int_equal(hash == last, trial % 3 != 1);
            last = hash;
        }
        strategy_destroy(strategy);
        space_destroy(space);
    }
}

static void test_learning__reuse_names_the_trial_that_has_the_result(
    void **state)
{
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        struct space *space = spec_build(&specs[4], env);
        struct strategy_options options = {.method = methods[m],
                                           .duplicates = DUPLICATES_REUSE};
        struct strategy *strategy = strategy_create(&options, space, NULL);
        struct value points[120][4];
        int reused = 0;

        for (uint64_t trial = 1; trial <= 120; trial++) {
            struct suggestion suggestion;
            double value = 1;

            ask(strategy, trial, points[trial - 1], &suggestion);
            if (suggestion.same_as != 0) {
                assert_true(suggestion.same_as < trial);
                assert_true(space_hash(space, points[suggestion.same_as - 1]) ==
                            space_hash(space, points[trial - 1]));
                reused++;
            }
            strategy_tell(strategy, trial,
                          &(struct trial_result){.values = &value});
        }
        assert_true(reused >= 120 - specs[4].points);
        strategy_destroy(strategy);
        space_destroy(space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learning__survives_whatever_it_is_told),
        cmocka_unit_test(test_learning__survives_it_with_two_objectives),
        cmocka_unit_test(test_learning__goes_on_the_same_after_a_restart),
        cmocka_unit_test(
            test_learning__goes_on_the_same_when_trials_were_run_again),
        cmocka_unit_test(test_learning__the_last_result_of_a_trial_counts),
        cmocka_unit_test(test_learning__what_is_enqueued_comes_first),
        cmocka_unit_test(test_learning__a_wish_is_fulfilled_by_the_next_trial),
        cmocka_unit_test(test_learning__a_wish_that_cannot_be_is_refused),
        cmocka_unit_test(
            test_learning__earlier_trials_that_bind_do_not_come_again),
        cmocka_unit_test(test_learning__replicates_come_in_a_row),
        cmocka_unit_test(
            test_learning__reuse_names_the_trial_that_has_the_result),
    };

    return cmocka_run_group_tests_name("strategy_learning", tests, open_env,
                                       close_env);
}
