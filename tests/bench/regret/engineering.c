/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "tests/bench/regret/problem.h"

/*
 * Design problems with constraints that are known only once a trial has ended,
 * and that hold the best point at their edge: the pressure vessel, the welded
 * beam and the spring, as in Coello Coello, "Use of a self-adaptive penalty
 * approach for engineering optimization problems" (Computers in Industry 41,
 * 2000). Each axis is bent by a power, in either direction, an instance.
 */

struct variable {
    double low, high;
    int levels; /* 0: continuous */
};

struct design {
    const struct variable *variables;
    size_t count;
    double best;
    double (*cost)(const double *y, double *outcomes);
};

struct bends {
    double power[OUTCOMES_MAX];
    bool reversed[OUTCOMES_MAX];
};

/* Thickness of shell and head (in 1/16), radius, length; inch. */
static double vessel(const double *y, double *outcomes)
{
    double shell = y[0] / 16, head = y[1] / 16, radius = y[2];

    outcomes[0] = 0.0193 * radius - shell;
    outcomes[1] = 0.00954 * radius - head;
    outcomes[2] = (1296000 - M_PI * radius * radius * y[3] -
                   4 * M_PI / 3 * pow(radius, 3)) /
                  1000;
    return 0.6224 * shell * radius * y[3] + 1.7781 * head * radius * radius +
           3.1661 * shell * shell * y[3] + 19.84 * shell * shell * radius;
}

/* Weld height and length, beam height and width; inch, pounds. */
static double beam(const double *y, double *outcomes)
{
    double weld = y[0], length = y[1], height = y[2], width = y[3];
    double load = 6000, reach = 14, elastic = 30e6, shear = 12e6;
    double half = (weld + height) / 2;
    double arm = sqrt(length * length / 4 + half * half);
    double polar =
        2 * M_SQRT2 * weld * length * (length * length / 12 + half * half);
    double direct = load / (M_SQRT2 * weld * length);
    double twist = load * (reach + length / 2) * arm / polar;
    double stress =
        sqrt(direct * direct + direct * twist * length / arm + twist * twist);
    double buckling = 4.013 * elastic *
                      sqrt(pow(height, 2) * pow(width, 6) / 36) /
                      (reach * reach) *
                      (1 - height / (2 * reach) * sqrt(elastic / (4 * shear)));

    outcomes[0] = stress - 13600;
    outcomes[1] = 6 * load * reach / (width * height * height) - 30000;
    outcomes[2] = weld - width;
    outcomes[3] =
        4 * load * pow(reach, 3) / (elastic * width * pow(height, 3)) - 0.25;
    outcomes[4] = load - buckling;
    return 1.10471 * weld * weld * length +
           0.04811 * height * width * (14 + length);
}

/* Wire diameter, coil diameter, number of coils. */
static double spring(const double *y, double *outcomes)
{
    double wire = y[0], coil = y[1], count = y[2];

    outcomes[0] = 1 - pow(coil, 3) * count / (71785 * pow(wire, 4));
    outcomes[1] = (4 * coil * coil - wire * coil) /
                      (12566 * (coil * pow(wire, 3) - pow(wire, 4))) +
                  1 / (5108 * wire * wire) - 1;
    outcomes[2] = 1 - 140.45 * wire / (coil * coil * count);
    outcomes[3] = (wire + coil) / 1.5 - 1;
    return (count + 2) * coil * wire * wire;
}

static const struct variable vessel_variables[] = {
    {1, 40, 40}, {1, 40, 40}, {10, 100, 0}, {10, 240, 0}};
static const struct variable beam_variables[] = {
    {0.1, 2, 0}, {0.1, 10, 0}, {0.1, 10, 0}, {0.1, 2, 0}};
static const struct variable spring_variables[] = {
    {0.03, 0.1, 0}, {0.25, 1.3, 0}, {2, 15, 0}};

static int build(struct instance *instance, struct err *err)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const struct design *design = instance->problem->data;

    for (size_t i = 0; i < design->count; i++) {
        int levels = design->variables[i].levels;
        struct param param = {.name = names[i],
                              .kind = levels ? PARAM_INT : PARAM_FLOAT,
                              .min = levels ? 1 : 0,
                              .max = levels ? levels : 1};

        if (space_add_param(instance->space, &param, err) < 0)
            return -1;
    }
    return 0;
}

static void place(struct instance *instance)
{
    const struct design *design = instance->problem->data;
    struct bends *bends = mem_zero(sizeof(*bends));

    for (size_t i = 0; i < design->count; i++) {
        double even = rng_uniform(&instance->rng);

        bends->power[i] =
            design->variables[i].levels ? 1 : pow(2, 2 * even - 1);
        bends->reversed[i] = rng_below(&instance->rng, 2) == 1;
    }
    instance->state = bends;
    instance->best = design->best;
}

static double cost(const struct instance *instance, const double *x,
                   double *outcomes)
{
    const struct design *design = instance->problem->data;
    const struct bends *bends = instance->state;
    double y[OUTCOMES_MAX];

    for (size_t i = 0; i < design->count; i++) {
        const struct variable *variable = &design->variables[i];
        double share = bends->reversed[i] ? 1 - x[i] : x[i];

        if (variable->levels)
            y[i] = 1 + floor(share * variable->levels);
        else
            y[i] = variable->low + (variable->high - variable->low) *
                                       pow(share, bends->power[i]);
    }
    return design->cost(y, outcomes);
}

#define DESIGN(label, in_set, what, best, outcomes)                            \
    {                                                                          \
        .name = (label), .kind = "outcome", .set = SET_##in_set,               \
        .data =                                                                \
            &(const struct design){what##_variables,                           \
                                   ARRAY_LEN(what##_variables), best, what},   \
        .outcome_count = (outcomes), .build = build, .place = place,           \
        .function = cost                                                       \
    }

const struct problem engineering_problems[] = {
    DESIGN("vessel-4", REPORT, vessel, 5850.383060, 3),
    DESIGN("beam-4", REPORT, beam, 1.7248523, 5),
    DESIGN("spring-3", TUNE, spring, 0.01266523, 4),
    {.name = NULL},
};
