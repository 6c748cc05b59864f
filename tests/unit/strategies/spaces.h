/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STRATEGIES_SPACES_H
#define SMTUNE_TESTS_UNIT_STRATEGIES_SPACES_H

#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "strategies/space/space.h"

/* Search spaces for the tests of every method. */

struct spec {
    const char *name;
    const struct param *params;
    size_t param_count;
    const char *const (*when)[2]; /* parameter, expression; NULL-ended */
    const char *const *constraints;
    int points; /* feasible and distinct ones; 0: a continuum */
};

static const struct value spec_words[] = {{.type = VALUE_TEXT, .text = "sgd"},
                                          {.type = VALUE_TEXT, .text = "adam"},
                                          {.type = VALUE_TEXT, .text = "none"}};

#define SPEC_FLOAT(n, lo, hi, sc)                                              \
    {                                                                          \
        .name = (n), .kind = PARAM_FLOAT, .scale = SCALE_##sc, .min = (lo),    \
        .max = (hi)                                                            \
    }
#define SPEC_INT(n, lo, hi, st, sc)                                            \
    {                                                                          \
        .name = (n), .kind = PARAM_INT, .scale = SCALE_##sc, .min = (lo),      \
        .max = (hi), .step = (st)                                              \
    }
#define SPEC_BOOL(n)                                                           \
    {                                                                          \
        .name = (n), .kind = PARAM_BOOL                                        \
    }
#define SPEC_WORDS(n, k, count)                                                \
    {                                                                          \
        .name = (n), .kind = PARAM_##k, .values = spec_words,                  \
        .value_count = (count)                                                 \
    }

static const struct param spec_continuous[] = {
    SPEC_FLOAT("a", 0, 1, LINEAR), SPEC_FLOAT("b", 1e-5, 1, LOG),
    SPEC_FLOAT("c", 0, 0.999, REVERSE_LOG), SPEC_FLOAT("d", 0.01, 0.99, LOGIT)};

static const struct param spec_mixed[] = {
    SPEC_FLOAT("lr", 1e-4, 1, LOG),
    SPEC_INT("width", 16, 512, 0, LOG),
    SPEC_INT("depth", 2, 8, 2, LINEAR),
    {.name = "drop", .kind = PARAM_FLOAT, .min = 0, .max = 0.5, .step = 0.1},
    SPEC_WORDS("optimizer", CATEGORICAL, 3),
    SPEC_WORDS("size", ORDINAL, 2),
    SPEC_BOOL("flag"),
    SPEC_WORDS("fixed", CONST, 1)};

/* momentum only for sgd, nesterov only with momentum, gap only with both;
 * "late" is decided by what comes after it */
static const struct param spec_nested[] = {
    SPEC_FLOAT("late", 0, 1, LINEAR), SPEC_WORDS("optimizer", CATEGORICAL, 3),
    SPEC_FLOAT("momentum", 0, 0.99, LINEAR), SPEC_BOOL("nesterov"),
    SPEC_INT("gap", 1, 9, 0, LINEAR)};
static const char *const spec_nested_when[][2] = {
    {"momentum", "optimizer = 'sgd'"},
    {"nesterov", "momentum > 0.5"},
    {"gap", "nesterov"},
    {"late", "gap > 4 or optimizer = 'adam'"},
    {NULL, NULL}};

static const char *const spec_disc[] = {"a * a + d * d <= 0.5", "b < c", NULL};

static const struct param spec_finite[] = {
    SPEC_WORDS("optimizer", CATEGORICAL, 3), SPEC_INT("width", 1, 4, 0, LOG),
    SPEC_INT("depth", 1, 3, 0, LINEAR), SPEC_BOOL("flag")};
static const char *const spec_finite_when[][2] = {
    {"depth", "optimizer <> 'none'"}, {"flag", "depth >= 2"}, {NULL, NULL}};
static const char *const spec_finite_constraints[] = {"width * depth <= 6",
                                                      NULL};

/* 3 points of a million, where drawing at random has no chance */
static const struct param spec_rare[] = {SPEC_INT("a", 1, 1000, 1, LINEAR),
                                         SPEC_INT("b", 1, 1000, 1, LINEAR)};
static const char *const spec_rare_constraints[] = {"a = 7", "b in (1, 5, 9)",
                                                    NULL};

static const struct param spec_one[] = {SPEC_INT("a", 1, 3, 0, LINEAR),
                                        SPEC_WORDS("fixed", CONST, 1)};
static const char *const spec_one_constraints[] = {"a = 2", NULL};

static const struct param spec_const[] = {SPEC_WORDS("fixed", CONST, 1)};

static const struct spec specs[] = {
    {"continuous", spec_continuous, ARRAY_LEN(spec_continuous), NULL, NULL, 0},
    {"mixed", spec_mixed, ARRAY_LEN(spec_mixed), NULL, NULL, 0},
    {"nested", spec_nested, ARRAY_LEN(spec_nested), spec_nested_when, NULL, 0},
    {"disc", spec_continuous, ARRAY_LEN(spec_continuous), NULL, spec_disc, 0},
    /* none: 4 widths; sgd and adam: depth 1 with 4 widths, depth 2 with 3 and
     * depth 3 with 2, each with flag on and off */
    {"finite", spec_finite, ARRAY_LEN(spec_finite), spec_finite_when,
     spec_finite_constraints, 4 + 2 * (4 + 2 * (3 + 2))},
    {"rare", spec_rare, ARRAY_LEN(spec_rare), NULL, spec_rare_constraints, 3},
    {"one", spec_one, ARRAY_LEN(spec_one), NULL, spec_one_constraints, 1},
    {"const", spec_const, ARRAY_LEN(spec_const), NULL, NULL, 1},
};

/* A mistake in a spec ends the test program. */
static inline void spec_must(int result, const struct err *err)
{
    if (result < 0) {
        fprintf(stderr, "%s\n", err->text);
        abort();
    }
}

static inline struct space *spec_build(const struct spec *spec,
                                       struct expr_env *home)
{
    struct space *space = space_create(home);
    struct err err = {0};

    for (size_t i = 0; i < spec->param_count; i++)
        spec_must(space_add_param(space, &spec->params[i], &err), &err);
    for (size_t i = 0; spec->when != NULL && spec->when[i][0] != NULL; i++)
        spec_must(space_set_when(space,
                                 (size_t)space_find(space, spec->when[i][0]),
                                 spec->when[i][1], &err),
                  &err);
    for (size_t i = 0; spec->constraints != NULL && spec->constraints[i]; i++)
        spec_must(space_add_constraint(space, spec->constraints[i], &err),
                  &err);
    return space;
}

#endif
