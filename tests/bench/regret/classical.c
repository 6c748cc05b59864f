/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/bench/regret/functions.h"
#include "tests/bench/regret/problem.h"

/*
 * The textbook functions, on axes of any kind. Each instance deals the
 * function's coordinates out to the parameters in another order, and has its
 * best point elsewhere.
 */

enum mode {
    MODE_SHIFT,  /* moved, each axis in either direction */
    MODE_ROTATE, /* moved and turned */
    /* Kept within its domain, where it has its best point only there: each
     * axis is bent by a power, in either direction. */
    MODE_NATIVE
};

enum extra {
    EXTRA_NONE,
    EXTRA_FAILS,    /* beyond a plane near the best point trials fail */
    EXTRA_OUTCOMES, /* satisfied in a ball around it, on one side of a plane */
    EXTRA_SUM       /* known constraints, on two pairs of parameters */
};

struct classical {
    const char *function;
    size_t dimension;
    size_t used; /* so many of the parameters matter; 0: all */
    enum mode mode;
    const char *kinds; /* of the axes, in turn; see axes */
    enum extra extra;
};

struct placed {
    const struct function *function;
    size_t used;
    size_t order[DIMENSION_MAX]; /* coordinate of the function to parameter */
    double low[DIMENSION_MAX], width[DIMENSION_MAX], at[DIMENSION_MAX];
    double sign[DIMENSION_MAX], power[DIMENSION_MAX];
    double normal[DIMENSION_MAX];               /* of the plane, length 1 */
    double turn[DIMENSION_MAX * DIMENSION_MAX]; /* [used][used] */
};

static const struct value four_words[] = {TEXT("red"), TEXT("green"),
                                          TEXT("blue"), TEXT("grey")};
static const struct value six_sizes[] = {NUMBER(8),  NUMBER(16),  NUMBER(32),
                                         NUMBER(64), NUMBER(128), NUMBER(256)};

static const struct {
    char kind;
    struct param param;
} axes[] = {
    {'f', FLOAT(NULL, 0, 1, LINEAR)},
    {'l', FLOAT(NULL, 1e-5, 1, LOG)},
    {'r', FLOAT(NULL, 0, 0.999, REVERSE_LOG)},
    {'i', INT(NULL, 0, 15, 0, LINEAR)},
    {'I', INT(NULL, 1, 1000, 0, LOG)},
    {'o', VALUES(NULL, ORDINAL, six_sizes)},
    {'c', VALUES(NULL, CATEGORICAL, four_words)},
    {'b', BOOL(NULL)},
};

/* Plain float axes get a range of their own. */
static struct param make_axis(struct rng *rng, char kind)
{
    struct param param = axes[0].param;

    for (size_t i = 0; i < ARRAY_LEN(axes); i++)
        if (axes[i].kind == kind)
            param = axes[i].param;
    if (kind == 'f') {
        param.min = floor(-10 + 20 * rng_uniform(rng));
        param.max = param.min + (double)(1 + rng_below(rng, 20));
    }
    return param;
}

/* x0 + x1 in shares of their ranges at most 0.9, and x2 - x3 at least -0.3. */
static int add_sums(struct space *space, struct err *err)
{
    static const char *const forms[] = {" + ", " - "};
    static const char *const bounds[] = {" <= 0.9", " >= -0.3"};

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf text = BUF_INIT;
        int result;

        for (size_t k = 0; k < 2; k++) {
            const struct param *param = space_param(space, 2 * i + k);

            buf_printf(&text, "%s(%s - (%g)) / %g", k > 0 ? forms[i] : "",
                       param->name, param->min, param->max - param->min);
        }
        buf_add_string(&text, bounds[i]);
        result = space_add_constraint(space, buf_text(&text), err);
        buf_clear(&text);
        if (result < 0)
            return -1;
    }
    return 0;
}

static int build(struct instance *instance, struct err *err)
{
    const struct classical *classical = instance->problem->data;
    size_t kinds = strlen(classical->kinds);

    for (size_t i = 0; i < classical->dimension; i++) {
        struct param param =
            make_axis(&instance->rng, classical->kinds[i % kinds]);
        char name[24];

        snprintf(name, sizeof(name), "x%zu", i);
        param.name = name;
        if (space_add_param(instance->space, &param, err) < 0)
            return -1;
    }
    if (classical->extra == EXTRA_SUM)
        return add_sums(instance->space, err);
    return 0;
}

static double gaussian(struct rng *rng)
{
    double radius = sqrt(-2 * log(1 - rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

/* A row of normal numbers, less its parts along the `count` rows before it,
 * to length 1. */
static void make_row(struct rng *rng, double *rows, size_t count, size_t width)
{
    double *row = rows + count * width;
    double length = 0;

    for (size_t i = 0; i < width; i++)
        row[i] = gaussian(rng);
    for (size_t k = 0; k < count; k++) {
        double along = 0;

        for (size_t i = 0; i < width; i++)
            along += row[i] * rows[k * width + i];
        for (size_t i = 0; i < width; i++)
            row[i] -= along * rows[k * width + i];
    }
    for (size_t i = 0; i < width; i++)
        length += row[i] * row[i];
    for (size_t i = 0; i < width; i++)
        row[i] /= sqrt(length);
}

/* Takes at[] from a few digits to all there are: along the axes, by steps that
 * get smaller. The value there. */
static double polish(struct placed *placed)
{
    const struct function *function = placed->function;
    double best = function->value(placed->at, placed->used);

    for (double step = 1e-3; step > 1e-10;) {
        double before = best;

        for (size_t i = 0; i < 2 * placed->used; i++) {
            double *x = &placed->at[i / 2];
            double was = *x;
            double value;

            *x += (i % 2 == 0 ? step : -step) * placed->width[i / 2];
            value = function->value(placed->at, placed->used);
            if (value < best)
                best = value;
            else
                *x = was;
        }
        if (best >= before)
            step /= 2;
    }
    return best;
}

/* Chooses the power that brings the function's best point near the target,
 * without bending too much, and moves the target there. */
static void bend(struct instance *instance, struct placed *placed, size_t i)
{
    size_t axis = placed->order[i];
    const struct param *param = space_param(instance->space, axis);
    double share = (placed->at[i] - placed->low[i]) / placed->width[i];
    double power = pow(2, 2 * rng_uniform(&instance->rng) - 1);
    double place = pow(share, 1 / power);
    uint64_t count = param_cardinality(param);

    if (count > 0) {
        place = (floor(place * (double)count) + 0.5) / (double)count;
        power = log(share) / log(place);
    }
    placed->power[i] = power;
    instance->target[axis] = placed->sign[i] > 0 ? place : 1 - place;
}

static void place(struct instance *instance)
{
    const struct classical *classical = instance->problem->data;
    struct placed *placed = mem_zero(sizeof(*placed));
    const struct function *function = function_find(classical->function);
    struct rng *rng = &instance->rng;

    instance->state = placed;
    placed->function = function;
    placed->used = classical->used ? classical->used : classical->dimension;
    for (size_t i = 0; i < classical->dimension; i++) {
        size_t other = (size_t)rng_below(rng, i + 1);

        placed->order[i] = placed->order[other];
        placed->order[other] = i;
    }
    for (size_t i = 0; i < placed->used; i++) {
        bool plane = function->low >= function->high;

        placed->low[i] = plane ? function->from[i] : function->low;
        placed->width[i] =
            (plane ? function->to[i] : function->high) - placed->low[i];
        placed->at[i] =
            function->at[i < function->at_count ? i : function->at_count - 1];
        placed->sign[i] = rng_below(rng, 2) ? 1 : -1;
        make_row(rng, placed->turn, i, placed->used);
    }
    make_row(rng, placed->normal, 0, classical->dimension);
    instance->best = polish(placed);
    for (size_t i = 0; classical->mode == MODE_NATIVE && i < placed->used; i++)
        bend(instance, placed, i);
}

static void move(const struct placed *placed, const double *target,
                 const double *x, double *y)
{
    for (size_t i = 0; i < placed->used; i++) {
        size_t axis = placed->order[i];

        y[i] = placed->at[i] +
               placed->sign[i] * placed->width[i] * (x[axis] - target[axis]);
    }
}

static void turn(const struct placed *placed, const double *target,
                 const double *x, double *y)
{
    for (size_t i = 0; i < placed->used; i++) {
        double sum = 0;

        for (size_t k = 0; k < placed->used; k++) {
            size_t axis = placed->order[k];

            sum +=
                placed->turn[i * placed->used + k] * (x[axis] - target[axis]);
        }
        y[i] = placed->at[i] + placed->width[i] * sum;
    }
}

static void stay(const struct placed *placed, const double *x, double *y)
{
    for (size_t i = 0; i < placed->used; i++) {
        double share = x[placed->order[i]];

        if (placed->sign[i] < 0)
            share = 1 - share;
        y[i] = placed->low[i] + placed->width[i] * pow(share, placed->power[i]);
    }
}

static double evaluate(const struct instance *instance, const double *x,
                       double *outcomes)
{
    const struct classical *classical = instance->problem->data;
    const struct placed *placed = instance->state;
    double y[DIMENSION_MAX];
    double along = 0, distance = 0;

    for (size_t i = 0; i < instance->dimension; i++) {
        double d = x[i] - instance->target[i];

        along += d * placed->normal[i];
        distance += d * d / (double)instance->dimension;
    }
    if (classical->extra == EXTRA_FAILS && along > 0.15)
        return NAN;
    if (classical->extra == EXTRA_OUTCOMES) {
        outcomes[0] = 20 * instance->coefficients[0] * (along - 0.1);
        outcomes[1] = distance - 0.15;
    }
    if (classical->mode == MODE_NATIVE)
        stay(placed, x, y);
    else if (classical->mode == MODE_ROTATE)
        turn(placed, instance->target, x, y);
    else
        move(placed, instance->target, x, y);
    return placed->function->value(y, placed->used);
}

#define ROW(label, what, in_set, ...)                                          \
    {                                                                          \
        .name = (label), .kind = (what), .set = SET_##in_set, .build = build,  \
        .place = place, .function = evaluate, __VA_ARGS__                      \
    }
/* Function, dimension, how many matter, mode, axes, extra. */
#define FORM(f, n, used, mode, kinds, extra)                                   \
    .data = &(const struct classical)                                          \
    {                                                                          \
        f, n, used, MODE_##mode, kinds, EXTRA_##extra                          \
    }
#define PLAIN(f, n, mode) FORM(f, n, 0, mode, "f", NONE)

/* clang-format off */
const struct problem classical_problems[] = {
    ROW("forrester-1", "classical", REPORT, PLAIN("forrester", 1, NATIVE)),
    ROW("branin-2", "classical", REPORT, PLAIN("branin", 2, NATIVE)),
    ROW("goldstein-price-2", "classical", REPORT,
        PLAIN("goldstein_price", 2, NATIVE)),
    ROW("schwefel-3", "classical", REPORT, PLAIN("schwefel", 3, NATIVE)),
    ROW("hartmann-3", "classical", REPORT, PLAIN("hartmann3", 3, NATIVE)),
    ROW("shekel-4", "classical", REPORT, PLAIN("shekel", 4, NATIVE)),
    ROW("rastrigin-4", "classical", REPORT, PLAIN("rastrigin", 4, SHIFT)),
    ROW("ackley-5", "classical", REPORT, PLAIN("ackley", 5, ROTATE)),
    ROW("michalewicz-5", "classical", REPORT,
        PLAIN("michalewicz", 5, NATIVE)),
    ROW("styblinski-5", "classical", REPORT, PLAIN("styblinski", 5, NATIVE)),
    ROW("hartmann-6", "classical", REPORT, PLAIN("hartmann6", 6, NATIVE)),
    ROW("rosenbrock-6", "classical", REPORT, PLAIN("rosenbrock", 6, ROTATE)),
    ROW("step-7", "classical", REPORT, PLAIN("step", 7, SHIFT)),
    ROW("levy-8", "classical", REPORT, PLAIN("levy", 8, ROTATE)),
    ROW("exp-ellipsoid-10", "classical", REPORT,
        PLAIN("ellipsoid", 10, ROTATE), .warp = WARP_EXP),
    ROW("log-powell-12", "classical", REPORT, PLAIN("powell", 12, ROTATE),
        .warp = WARP_LOG),
    ROW("griewank-16", "classical", REPORT, PLAIN("griewank", 16, ROTATE)),
    ROW("dixon-price-20", "classical", REPORT,
        PLAIN("dixon_price", 20, ROTATE)),
    ROW("sphere-30", "classical", REPORT, PLAIN("sphere", 30, SHIFT)),
    ROW("few-hartmann-15", "useless", REPORT,
        FORM("hartmann3", 15, 3, NATIVE, "f", NONE)),
    ROW("few-rosenbrock-20", "useless", REPORT,
        FORM("rosenbrock", 20, 4, ROTATE, "f", NONE)),
    ROW("noisy-ackley-3", "noisy", REPORT, PLAIN("ackley", 3, ROTATE),
        .noise = 0.03),
    ROW("noisy-ellipsoid-6", "noisy", REPORT, PLAIN("ellipsoid", 6, ROTATE),
        .noise = 0.05),
    ROW("failing-rosenbrock-4", "failing", REPORT,
        FORM("rosenbrock", 4, 0, ROTATE, "f", FAILS)),
    ROW("failing-griewank-7", "failing", REPORT,
        FORM("griewank", 7, 0, ROTATE, "fl", FAILS)),
    ROW("int-ellipsoid-8", "mixed", REPORT,
        FORM("ellipsoid", 8, 0, SHIFT, "iiI", NONE)),
    ROW("ordinal-rastrigin-5", "mixed", REPORT,
        FORM("rastrigin", 5, 0, SHIFT, "offoi", NONE)),
    ROW("mixed-ackley-10", "mixed", REPORT,
        FORM("ackley", 10, 0, SHIFT, "fbfbocbfIb", NONE)),
    ROW("mixed-levy-6", "mixed", REPORT,
        FORM("levy", 6, 0, SHIFT, "lIcrfo", NONE)),
    ROW("sums-styblinski-4", "constrained", REPORT,
        FORM("styblinski", 4, 0, SHIFT, "f", SUM)),
    ROW("outcome-levy-5", "outcome", REPORT,
        FORM("levy", 5, 0, ROTATE, "ff", OUTCOMES), .outcome_count = 2),

    ROW("gramacy-lee-1", "classical", TUNE, PLAIN("gramacy_lee", 1, NATIVE)),
    ROW("camel-2", "classical", TUNE, PLAIN("camel", 2, NATIVE)),
    ROW("beale-2", "classical", TUNE, PLAIN("beale", 2, SHIFT)),
    ROW("alpine-4", "classical", TUNE, PLAIN("alpine", 4, SHIFT)),
    ROW("schaffer-5", "classical", TUNE, PLAIN("schaffer", 5, ROTATE)),
    ROW("log-zakharov-6", "classical", TUNE, PLAIN("zakharov", 6, ROTATE),
        .warp = WARP_LOG),
    ROW("salomon-8", "classical", TUNE, PLAIN("salomon", 8, SHIFT)),
    ROW("exp-cigar-10", "classical", TUNE, PLAIN("cigar", 10, ROTATE),
        .warp = WARP_EXP),
    ROW("sum-powers-15", "classical", TUNE, PLAIN("sum_powers", 15, ROTATE)),
    ROW("discus-25", "classical", TUNE, PLAIN("discus", 25, ROTATE)),
    ROW("few-camel-12", "useless", TUNE,
        FORM("camel", 12, 2, NATIVE, "f", NONE)),
    ROW("noisy-sum-powers-5", "noisy", TUNE, PLAIN("sum_powers", 5, ROTATE),
        .noise = 0.05),
    ROW("failing-zakharov-4", "failing", TUNE,
        FORM("zakharov", 4, 0, ROTATE, "lf", FAILS)),
    ROW("int-schaffer-6", "mixed", TUNE,
        FORM("schaffer", 6, 0, SHIFT, "iIf", NONE)),
    ROW("mixed-bohachevsky-8", "mixed", TUNE,
        FORM("bohachevsky", 8, 0, SHIFT, "fIcblofb", NONE)),
    ROW("sums-alpine-5", "constrained", TUNE,
        FORM("alpine", 5, 0, SHIFT, "f", SUM)),
    ROW("outcome-zakharov-3", "outcome", TUNE,
        FORM("zakharov", 3, 0, ROTATE, "f", OUTCOMES), .outcome_count = 2),
    {.name = NULL},
};
/* clang-format on */
