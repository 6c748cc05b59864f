/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "strategies/space/hash_set.h"
#include "strategies/strategy.h"
#include "tests/unit/env.h"
#include "tests/unit/strategies/spaces.h"

/* Every method on every space. */

enum { ASKS = 150, VALUES_MAX = 64 };

/* More than two passes over a finite space. */
static int asks_for(const struct spec *spec)
{
    return spec->points > 0 ? 3 * spec->points : ASKS;
}

static const char *const methods[] = {"random", "grid",  "sobol", "auto",
                                      "tpe",    "cmaes", "nsga2"};

struct asked {
    enum ask_result result;
    uint64_t cursor;
    struct value point[VALUES_MAX];
};

static struct strategy *make(const char *method, uint64_t seed,
                             struct space *space)
{
    struct strategy_options options = {
        .method = method, .seed = seed, .grid_points = 4, .budget_trials = 30};
    struct err err = {0};
    struct strategy *strategy = strategy_create(&options, space, &err);

    if (strategy == NULL)
        fail_msg("%s: %s", method, err.text);
    return strategy;
}

static void ask(struct strategy *strategy, uint64_t trial, struct asked *asked)
{
    struct suggestion suggestion;
    struct err err = {0};

    asked->result =
        strategy_ask(strategy, trial, asked->point, &suggestion, &err);
    asked->cursor = suggestion.cursor;
    if (asked->result == ASK_ERROR)
        fail_msg("trial %llu: %s", (unsigned long long)trial, err.text);
}

static void assert_same(const struct space *space, const struct asked *a,
                        const struct asked *b)
{
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->cursor, b->cursor);
    for (size_t i = 0; i < space_count(space) && a->result == ASK_OK; i++)
        assert_true(value_equal(&a->point[i], &b->point[i]));
}

static void for_all(void (*property)(const char *method,
                                     const struct spec *spec,
                                     struct space *space))
{
    for (size_t m = 0; m < ARRAY_LEN(methods); m++)
        for (size_t s = 0; s < ARRAY_LEN(specs); s++) {
            struct space *space = spec_build(&specs[s], env);

            property(methods[m], &specs[s], space);
            space_destroy(space);
        }
}

static void points_are_feasible(const char *method, const struct spec *spec,
                                struct space *space)
{
    struct strategy *strategy = make(method, 11, space);
    uint64_t asks = (uint64_t)asks_for(spec);
    struct asked a;

    for (uint64_t trial = 1; trial <= asks; trial++) {
        struct value again[VALUES_MAX];

        ask(strategy, trial, &a);
        if (a.result == ASK_EXHAUSTED)
            break;
        assert_true(space_feasible(space, a.point));
        memcpy(again, a.point, sizeof(again));
        space_apply_conditions(space, again);
        for (size_t i = 0; i < space_count(space); i++) {
            struct value own;

            assert_true(value_equal(&a.point[i], &again[i]));
            if (a.point[i].type == VALUE_NULL)
                continue;
            assert_int_equal(
                param_coerce(space_param(space, i), &a.point[i], &own), 0);
            assert_true(value_equal(&a.point[i], &own));
        }
    }
    strategy_destroy(strategy);
}

/* A method that enumerates ends after the last point; the others begin again,
 * and every pass has each point once. */
static void finite_spaces_repeat_nothing(const char *method,
                                         const struct spec *spec,
                                         struct space *space)
{
    struct strategy *strategy = make(method, 5, space);
    bool ends = strcmp(strategy_method(strategy), "grid") == 0;
    struct hash_set set = {0};
    uint64_t trial = 0;
    struct asked a;

    for (int pass = 0; pass < 3 && spec->points > 0 && spec->points < 1000;
         pass++) {
        hash_set_clear(&set);
        for (int i = 0; i < spec->points; i++) {
            ask(strategy, ++trial, &a);
            assert_int_equal(a.result, ASK_OK);
            assert_true(hash_set_add(&set, space_hash(space, a.point)));
        }
        if (!ends)
            continue;
        ask(strategy, ++trial, &a);
        assert_int_equal(a.result, ASK_EXHAUSTED);
        break;
    }
    hash_set_clear(&set);
    strategy_destroy(strategy);
}

static void continua_repeat_nothing(const char *method, const struct spec *spec,
                                    struct space *space)
{
    struct strategy *strategy = make(method, 5, space);
    struct hash_set set = {0};
    struct asked a;

    for (uint64_t trial = 1; trial <= ASKS && spec->points == 0; trial++) {
        ask(strategy, trial, &a);
        if (a.result == ASK_EXHAUSTED)
            break;
        assert_true(hash_set_add(&set, space_hash(space, a.point)));
    }
    hash_set_clear(&set);
    strategy_destroy(strategy);
}

static void same_seed_same_trials(const char *method, const struct spec *spec,
                                  struct space *space)
{
    struct strategy *one = make(method, 77, space);
    struct strategy *other = make(method, 77, space);
    uint64_t asks = (uint64_t)asks_for(spec);
    struct asked a, b;

    for (uint64_t trial = 1; trial <= asks; trial++) {
        double value = sin((double)trial);

        ask(one, trial, &a);
        if (trial > 4 && !strategy_learns(other))
            strategy_tell(
                other, trial - trial % 3,
                &(struct trial_result){.outcome = trial % 5 ? OUTCOME_COMPLETE
                                                            : OUTCOME_FAILED,
                                       .values = &value});
        ask(other, trial, &b);
        assert_same(space, &a, &b);
    }
    strategy_destroy(one);
    strategy_destroy(other);
}

/* After k trials from the record, the next ones are those of one who asked
 * all the time. */
static void restores_to_where_it_was(const char *method,
                                     const struct spec *spec,
                                     struct space *space)
{
    static const int kept[] = {1, 2, 3, 7, 30, 31, 60, 149};
    struct strategy *whole = make(method, 3, space);
    struct asked *all = calloc(ASKS, sizeof(*all));
    int count = 0;

    for (; count < asks_for(spec); count++) {
        ask(whole, (uint64_t)count + 1, &all[count]);
        if (all[count].result != ASK_OK)
            break;
    }
    for (size_t k = 0; k < ARRAY_LEN(kept); k++) {
        struct strategy *again = make(method, 3, space);
        struct asked a;

        for (int i = 0; i < kept[k] && i < count; i++)
            strategy_restore(again, (uint64_t)i + 1, all[i].point,
                             all[i].cursor);
        for (int i = kept[k]; i < count; i++) {
            ask(again, (uint64_t)i + 1, &a);
            assert_same(space, &a, &all[i]);
        }
        strategy_destroy(again);
    }
    free(all);
    strategy_destroy(whole);
}

static void seeds_differ(const char *method, const struct spec *spec,
                         struct space *space)
{
    struct strategy *one = make(method, 1, space);
    struct strategy *other = make(method, 2, space);
    bool is_grid = strcmp(strategy_method(one), "grid") == 0;
    bool differ = false;
    struct asked a, b;

    for (uint64_t trial = 1; trial <= 5; trial++) {
        ask(one, trial, &a);
        ask(other, trial, &b);
        differ |= a.result == ASK_OK && b.result == ASK_OK &&
                  space_hash(space, a.point) != space_hash(space, b.point);
    }
    if (is_grid || spec->points == 1)
        assert_false(differ);
    else if (spec->points == 0)
        assert_true(differ);
    strategy_destroy(one);
    strategy_destroy(other);
}

#define PROPERTY(name)                                                         \
    static void test_strategy__##name(void **state)                            \
    {                                                                          \
        (void)state;                                                           \
        for_all(name);                                                         \
    }
PROPERTY(points_are_feasible)
PROPERTY(finite_spaces_repeat_nothing)
PROPERTY(continua_repeat_nothing)
PROPERTY(same_seed_same_trials)
PROPERTY(restores_to_where_it_was)
PROPERTY(seeds_differ)

/* Each trial of a grid as a line of its values. */
static char *enumerate(const struct spec *spec, uint64_t grid_points)
{
    struct space *space = spec_build(spec, env);
    struct strategy_options options = {.method = "grid",
                                       .grid_points = grid_points};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct buf text = BUF_INIT;
    struct asked a;

    assert_non_null(strategy);
    for (uint64_t trial = 1; ask(strategy, trial, &a), a.result == ASK_OK;
         trial++)
        for (size_t i = 0; i < space_count(space); i++) {
            value_print(&a.point[i], &text);
            buf_add_string(&text, i + 1 < space_count(space) ? " " : "\n");
        }
    strategy_destroy(strategy);
    space_destroy(space);
    return buf_take(&text);
}

static void expect_grid(const struct spec *spec, uint64_t grid_points,
                        const char *expected)
{
    char *text = enumerate(spec, grid_points);

    assert_string_equal(text, expected);
    free(text);
}

static void test_strategy__grid_has_every_value_last_fastest(void **state)
{
    const struct param params[] = {
        SPEC_WORDS("word", CATEGORICAL, 2),
        {.name = "x", .kind = PARAM_FLOAT, .min = 0, .max = 0.3, .step = 0.1},
        SPEC_BOOL("flag")};
    const struct spec spec = {.params = params, .param_count = 3};

    (void)state;
    expect_grid(&spec, 2,
                "sgd 0 false\nsgd 0 true\nsgd 0.1 false\nsgd 0.1 true\n"
                "sgd 0.2 false\nsgd 0.2 true\nsgd 0.3 false\nsgd 0.3 true\n"
                "adam 0 false\nadam 0 true\nadam 0.1 false\nadam 0.1 true\n"
                "adam 0.2 false\nadam 0.2 true\nadam 0.3 false\n"
                "adam 0.3 true\n");
}

static void test_strategy__grid_goes_where_a_parameter_is_active(void **state)
{
    const struct param params[] = {SPEC_WORDS("word", CATEGORICAL, 3),
                                   SPEC_INT("x", 1, 3, 0, LINEAR),
                                   SPEC_INT("y", 1, 2, 0, LINEAR)};
    const char *const when[][2] = {
        {"x", "word <> 'sgd'"}, {"y", "x = 2"}, {NULL, NULL}};
    const char *const constraints[] = {"not (word = 'none' and x > 2)", NULL};
    const struct spec spec = {.params = params,
                              .param_count = 3,
                              .when = when,
                              .constraints = constraints};

    (void)state;
    expect_grid(&spec, 5,
                "sgd  \nadam 1 \nadam 2 1\nadam 2 2\nadam 3 \nnone 1 \n"
                "none 2 1\nnone 2 2\n");
}

static void test_strategy__grid_picks_values_even_on_the_scale(void **state)
{
    static const struct {
        struct param param;
        uint64_t grid_points;
        const char *expected;
    } cases[] = {
        {SPEC_FLOAT("x", 0, 1, LINEAR), 5, "0\n0.25\n0.5\n0.75\n1\n"},
        {SPEC_FLOAT("x", 1, 1, LINEAR), 0, NULL},
        {SPEC_FLOAT("x", 1e-4, 1, LOG), 5, "0.0001\n0.001\n0.01\n0.1\n1\n"},
        {SPEC_FLOAT("x", 0, 0.9, LINEAR), 4, "0\n0.3\n0.6\n0.9\n"},
        {SPEC_INT("x", 1, 6, 0, LOG), 2, "1\n2\n3\n4\n5\n6\n"},
        {SPEC_INT("x", 1, 4, 0, LINEAR), 10, "1\n2\n3\n4\n"},
        {SPEC_INT("x", 0, 9, 3, LINEAR), 2, "0\n3\n6\n9\n"},
        {SPEC_FLOAT("x", 0, 3, LINEAR), 1, "1.5\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct spec spec = {.params = &cases[i].param, .param_count = 1};

        if (cases[i].expected != NULL)
            expect_grid(&spec, cases[i].grid_points, cases[i].expected);
    }
}

/* 10^14 points, of which the constraints leave 100: found by skipping. */
static void test_strategy__grid_skips_what_a_prefix_rules_out(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    struct param params[7];
    const char *const constraints[] = {"a = 50", "b = a + 7", "c = b and d = 1",
                                       "e = 100 - d and f = 3", NULL};
    const struct spec spec = {
        .params = params, .param_count = 7, .constraints = constraints};
    char *text;
    size_t lines = 0;

    (void)state;
    for (size_t i = 0; i < 7; i++)
        params[i] = (struct param)SPEC_INT(names[i], 1, 100, 0, LINEAR);
    text = enumerate(&spec, 100);
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 100);
    assert_int_equal(strncmp(text, "50 57 57 1 99 3 1\n", 18), 0);
    free(text);
}

static void test_strategy__grid_says_what_it_cannot_do(void **state)
{
    const struct param x = SPEC_FLOAT("x", 1, 100, LINEAR);
    const char *const constraints[] = {"x = 2", NULL};
    const struct spec spec = {
        .params = &x, .param_count = 1, .constraints = constraints};
    struct space *space = spec_build(&spec, env);
    struct strategy_options options = {.method = "grid", .grid_points = 5};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct err err = {0};
    struct asked a;

    (void)state;
    for (int i = 0; i < 2; i++) { /* the second time for the same reason */
        err = (struct err){0};
        assert_int_equal(strategy_ask(strategy, 1, a.point, NULL, &err),
                         ASK_ERROR);
        assert_string_equal(err.text,
                            "no point of the grid satisfies the constraints");
    }
    strategy_destroy(strategy);
    options.grid_points = 0;
    assert_null(strategy_create(&options, space, &err));
    assert_string_equal(err.text, "out of range: a grid has from 1 to 1000000 "
                                  "points for parameter 'x', not 0");
    space_destroy(space);
}

static void test_strategy__a_grid_without_end_is_refused(void **state)
{
    char names[40][8];
    struct param params[40];
    const struct spec spec = {.params = params, .param_count = 40};
    struct strategy_options options = {.method = "grid", .grid_points = 5};
    struct space *space;
    struct err err = {0};

    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof(names[i]), "x%d", i % 100);
        params[i] = (struct param)SPEC_FLOAT(names[i], 0, 1, LINEAR);
    }
    space = spec_build(&spec, env);
    assert_null(strategy_create(&options, space, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "more than 4611686018427387904 (2^62)"));
    space_destroy(space);
}

static void test_strategy__nothing_feasible_is_an_error(void **state)
{
    static const char *const never[] = {"1 = 0", NULL};
    static const struct param finite = SPEC_BOOL("x");
    static const struct param endless = SPEC_FLOAT("x", 0, 1, LINEAR);
    const struct spec cases[] = {
        {.params = &finite, .param_count = 1, .constraints = never},
        {.params = &endless, .param_count = 1, .constraints = never}};

    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(methods); m++)
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            struct space *space = spec_build(&cases[i], env);
            struct strategy *strategy = make(methods[m], 1, space);
            struct err err = {0};
            struct asked a;

            assert_int_equal(strategy_ask(strategy, 1, a.point, NULL, &err),
                             ASK_ERROR);
            assert_non_null(strstr(err.text, "constraints"));
            strategy_destroy(strategy);
            space_destroy(space);
        }
}

static const struct spec *find_spec(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        if (strcmp(specs[i].name, name) == 0)
            return &specs[i];
    fail_msg("no spec '%s'", name);
    return NULL;
}

static void test_strategy__auto_says_what_it_chose_and_why(void **state)
{
    static const struct {
        const char *spec;
        uint64_t budget;
        const char *method, *reason;
    } cases[] = {
        {"mixed", 1000000, "auto", "too many settings to try them all"},
        {"finite", 72, "grid", "budget of 72 trials covers all 32 settings"},
        {"finite", 32, "grid", "budget of 32 trials covers all 32 settings"},
        {"finite", 31, "auto", "budget of 31 trials does not cover"},
        {"finite", 0, "auto", "the budget has no number of trials"},
        {"rare", 100, "auto", "does not cover"},
        {"one", 1, "grid", "covers all 1 settings"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct space *space = spec_build(find_spec(cases[i].spec), env);
        struct strategy_options options = {.method = "auto",
                                           .grid_points = 2,
                                           .budget_trials = cases[i].budget};
        struct strategy *strategy = strategy_create(&options, space, NULL);

        assert_string_equal(strategy_method(strategy), cases[i].method);
        if (strstr(strategy_reason(strategy), cases[i].reason) == NULL)
            fail_msg("'%s' is not in '%s'", cases[i].reason,
                     strategy_reason(strategy));
        strategy_destroy(strategy);
        space_destroy(space);
    }
}

/* Where auto takes the grid, no value of an int is left out. */
static void test_strategy__auto_leaves_no_setting_out(void **state)
{
    const struct param x = SPEC_INT("x", 1, 25, 0, LOG);
    const struct spec spec = {.params = &x, .param_count = 1, .points = 25};
    struct space *space = spec_build(&spec, env);

    (void)state;
    finite_spaces_repeat_nothing("auto", &spec, space);
    space_destroy(space);
}

static void test_strategy__names_its_methods(void **state)
{
    struct space *space = spec_build(find_spec("mixed"), env);
    struct strategy_options options = {.method = "sobl"};
    struct err err = {0};

    (void)state;
    assert_null(strategy_create(&options, space, &err));
    assert_string_equal(err.text,
                        "unknown search method 'sobl' (did you mean 'sobol'?)");
    options.method = "annealing";
    assert_null(strategy_create(&options, space, &err));
    assert_non_null(strstr(err.text, "one of: auto, random, grid, sobol"));
    space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strategy__points_are_feasible),
        cmocka_unit_test(test_strategy__finite_spaces_repeat_nothing),
        cmocka_unit_test(test_strategy__continua_repeat_nothing),
        cmocka_unit_test(test_strategy__same_seed_same_trials),
        cmocka_unit_test(test_strategy__restores_to_where_it_was),
        cmocka_unit_test(test_strategy__seeds_differ),
        cmocka_unit_test(test_strategy__grid_has_every_value_last_fastest),
        cmocka_unit_test(test_strategy__grid_goes_where_a_parameter_is_active),
        cmocka_unit_test(test_strategy__grid_picks_values_even_on_the_scale),
        cmocka_unit_test(test_strategy__grid_skips_what_a_prefix_rules_out),
        cmocka_unit_test(test_strategy__grid_says_what_it_cannot_do),
        cmocka_unit_test(test_strategy__a_grid_without_end_is_refused),
        cmocka_unit_test(test_strategy__nothing_feasible_is_an_error),
        cmocka_unit_test(test_strategy__auto_says_what_it_chose_and_why),
        cmocka_unit_test(test_strategy__auto_leaves_no_setting_out),
        cmocka_unit_test(test_strategy__names_its_methods),
    };

    return cmocka_run_group_tests_name("strategy", tests, open_env, close_env);
}
