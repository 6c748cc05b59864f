/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_BENCH_REGRET_PROBLEM_H
#define SMTUNE_TESTS_BENCH_REGRET_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/rng.h"
#include "strategies/space/space.h"
#include "strategies/strategy.h"

/*
 * Problems to measure search methods with. A problem is a family; a seed makes
 * an instance of it: where the best point lies, how the axes are turned, which
 * category is which, and what the told values are multiplied by and shifted
 * to. So nothing is to be had from knowing a place or a size.
 *
 * A problem is written in coordinates: one number in [0, 1] a parameter, in
 * which the order of categories is shuffled an instance; NaN where inactive.
 * Its measure is what regret is taken of: (f - best f) / (the median over
 * random points - best f). What a method is told is
 *     offset + scale * warp(measure + noise).
 */

enum { DIMENSION_MAX = 40, OUTCOMES_MAX = 6, COEFFICIENTS = 64 };

enum problem_set { SET_TUNE, SET_REPORT };

/* Monotone: the methods that go by ranks alone do not see it. */
enum warp { WARP_NONE, WARP_EXP, WARP_LOG };

struct instance;

struct problem {
    const char *name;
    const char *kind; /* one word for tables: "classical", "mixed" ... */
    const void *data; /* for build and function: what makes it this problem */
    enum problem_set set;
    enum warp warp;
    double noise; /* standard deviation, as a share of the measure's unit */
    size_t outcome_count;

    /* Adds parameters, conditions and constraints to instance->space. */
    int (*build)(struct instance *instance, struct err *err);
    /* Sets target, state and best; the coordinates are known by now. */
    void (*place)(struct instance *instance);
    /* f at x[dimension]; NaN: the trial fails. outcomes[outcome_count]. */
    double (*function)(const struct instance *instance, const double *x,
                       double *outcomes);
};

struct layout {
    const struct param *params;
    size_t param_count;
    const char *const (*when)[2];   /* parameter, expression; NULL-ended */
    const char *const *constraints; /* NULL-ended; NULL: none */
};

#define FLOAT(n, lo, hi, sc)                                                   \
    {                                                                          \
        .name = (n), .kind = PARAM_FLOAT, .scale = SCALE_##sc, .min = (lo),    \
        .max = (hi)                                                            \
    }
#define INT(n, lo, hi, st, sc)                                                 \
    {                                                                          \
        .name = (n), .kind = PARAM_INT, .scale = SCALE_##sc, .min = (lo),      \
        .max = (hi), .step = (st)                                              \
    }
#define BOOL(n)                                                                \
    {                                                                          \
        .name = (n), .kind = PARAM_BOOL                                        \
    }
#define VALUES(n, k, v)                                                        \
    {                                                                          \
        .name = (n), .kind = PARAM_##k, .values = (v),                         \
        .value_count = ARRAY_LEN(v)                                            \
    }
#define TEXT(t)                                                                \
    {                                                                          \
        .type = VALUE_TEXT, .text = (t)                                        \
    }
#define NUMBER(n)                                                              \
    {                                                                          \
        .type = VALUE_INT, .integer = (n)                                      \
    }

struct instance {
    const struct problem *problem;
    uint64_t seed;
    struct rng rng; /* for build and place */
    struct expr_env *env;
    struct space *space;
    size_t dimension;

    /* Drawn before place: a point's coordinates that is feasible, away from
     * the ends of continuous axes; and numbers even in [0, 1). */
    double target[DIMENSION_MAX];
    double coefficients[COEFFICIENTS];
    unsigned char *shuffle[DIMENSION_MAX]; /* of a categorical's values */
    void *state;                           /* freed with the instance */

    double best; /* smallest f; 0 unless place says otherwise */
    double unit; /* median f of random points that are good, less best */
    double scale, offset;
};

struct evaluation {
    enum trial_outcome outcome;    /* OUTCOME_COMPLETE or OUTCOME_FAILED */
    double value;                  /* what a method is told */
    double measure;                /* without noise, 0 at best */
    double outcomes[OUTCOMES_MAX]; /* at most 0 is satisfied */
};

/* All that there are; one by name (NULL: there is none). */
void problem_each(void (*visit)(const struct problem *problem, void *user),
                  void *user);
const struct problem *problem_find(const char *name);
extern const char *const problem_set_names[]; /* in the order of the enum */

struct instance *instance_create(const struct problem *problem, uint64_t seed,
                                 struct err *err);
void instance_destroy(struct instance *instance);

/* A feasible point, even in the cube. */
int instance_random(struct instance *instance, struct rng *rng,
                    struct value *point, struct err *err);
/* trial decides the noise alone. point is feasible. */
void instance_evaluate(const struct instance *instance,
                       const struct value *point, uint64_t trial,
                       struct evaluation *evaluation);

bool outcomes_satisfied(const struct problem *problem, const double *outcomes);

/* Which of its values the coordinate of a finite parameter stands for, in the
 * instance's order of categories. */
size_t instance_choice(const struct instance *instance, const double *x,
                       size_t index);
/* A build that adds what problem->data, a struct layout, holds. */
int instance_lay_out(struct instance *instance, struct err *err);

/* Tables of problems, one a file, ended by one without a name. */
extern const struct problem classical_problems[];
extern const struct problem engineering_problems[];
extern const struct problem training_problems[];
extern const struct problem tree_problems[];
extern const struct problem choice_problems[];
extern const struct problem table_problems[];

#endif
