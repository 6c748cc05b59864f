/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/bench/regret/problem.h"

/* Streams of the generator. */
enum { STREAM_INSTANCE = 200, STREAM_UNIT, STREAM_NOISE };

enum { UNIT_POINTS = 301, UNIT_DRAWS = 10000, DRAWS_MAX = 100000 };

/* Targets of continuous axes keep so far from the ends. */
static const double margin = 0.08;

const char *const problem_set_names[] = {"tune", "report", NULL};

static const struct problem *const tables[] = {
    classical_problems, engineering_problems, training_problems,
    tree_problems,      choice_problems,      table_problems};

const struct problem *problem_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct problem *p = tables[i]; p->name != NULL; p++)
            if (strcmp(p->name, name) == 0)
                return p;
    return NULL;
}

void problem_each(void (*visit)(const struct problem *problem, void *user),
                  void *user)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct problem *p = tables[i]; p->name != NULL; p++)
            visit(p, user);
}

/* FNV-1a, so that problems of one seed do not share numbers. */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static uint64_t key(const struct instance *instance)
{
    return hash_name(instance->problem->name) ^ instance->seed;
}

int instance_lay_out(struct instance *instance, struct err *err)
{
    const struct layout *layout = instance->problem->data;
    struct space *space = instance->space;

    for (size_t i = 0; i < layout->param_count; i++)
        if (space_add_param(space, &layout->params[i], err) < 0)
            return -1;
    for (size_t i = 0; layout->when != NULL && layout->when[i][0] != NULL; i++)
        if (space_set_when(space, (size_t)space_find(space, layout->when[i][0]),
                           layout->when[i][1], err) < 0)
            return -1;
    for (size_t i = 0; layout->constraints && layout->constraints[i]; i++)
        if (space_add_constraint(space, layout->constraints[i], err) < 0)
            return -1;
    return 0;
}

static bool is_shuffled(const struct param *param)
{
    return param->kind == PARAM_CATEGORICAL || param->kind == PARAM_BOOL;
}

static void shuffle_categories(struct instance *instance)
{
    for (size_t i = 0; i < instance->dimension; i++) {
        const struct param *param = space_param(instance->space, i);
        size_t count = (size_t)param_cardinality(param);

        if (!is_shuffled(param))
            continue;
        instance->shuffle[i] = mem_alloc(count);
        for (size_t k = 0; k < count; k++) {
            size_t other = (size_t)rng_below(&instance->rng, k + 1);

            instance->shuffle[i][k] = instance->shuffle[i][other];
            instance->shuffle[i][other] = (unsigned char)k;
        }
    }
}

static double coordinate(const struct instance *instance, size_t index,
                         const struct value *value)
{
    const struct param *param = space_param(instance->space, index);
    double unit = param_to_unit(param, value);
    double count;

    if (instance->shuffle[index] == NULL)
        return unit;
    count = (double)param_cardinality(param);
    return (instance->shuffle[index][(size_t)(unit * count)] + 0.5) / count;
}

static void coordinates(const struct instance *instance,
                        const struct value *point, double *x)
{
    for (size_t i = 0; i < instance->dimension; i++)
        x[i] = point[i].type == VALUE_NULL ? (double)NAN
                                           : coordinate(instance, i, &point[i]);
}

size_t instance_choice(const struct instance *instance, const double *x,
                       size_t index)
{
    const struct param *param = space_param(instance->space, index);

    return (size_t)(x[index] * (double)param_cardinality(param));
}

/* A feasible point, its units even from `low` to 1 - low. */
static int draw(struct instance *instance, struct rng *rng, double low,
                double *unit, struct value *point)
{
    for (int k = 0; k < DRAWS_MAX; k++) {
        for (size_t i = 0; i < instance->dimension; i++)
            unit[i] = low + (1 - 2 * low) * rng_uniform(rng);
        space_decode(instance->space, unit, point);
        if (space_feasible(instance->space, point))
            return 0;
    }
    return -1;
}

int instance_random(struct instance *instance, struct rng *rng,
                    struct value *point, struct err *err)
{
    double unit[DIMENSION_MAX];

    if (draw(instance, rng, 0, unit, point) == 0)
        return 0;
    return err_set(err, ERR_FAILED, "%s: found no feasible point",
                   instance->problem->name);
}

/* Also inactive parameters have a target. */
static int draw_target(struct instance *instance, struct err *err)
{
    double unit[DIMENSION_MAX];
    struct value point[DIMENSION_MAX];

    if (draw(instance, &instance->rng, margin, unit, point) < 0)
        return err_set(err, ERR_FAILED, "%s: found no feasible target",
                       instance->problem->name);
    for (size_t i = 0; i < instance->dimension; i++) {
        struct value value =
            param_from_unit(space_param(instance->space, i), unit[i]);

        instance->target[i] = coordinate(instance, i, &value);
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

bool outcomes_satisfied(const struct problem *problem, const double *outcomes)
{
    for (size_t i = 0; i < problem->outcome_count; i++)
        if (!(outcomes[i] <= 0))
            return false;
    return true;
}

/* Of points at which trials succeed and satisfy their outcome constraints. */
static int measure_unit(struct instance *instance, struct err *err)
{
    double values[UNIT_POINTS], x[DIMENSION_MAX], outcomes[OUTCOMES_MAX];
    struct value point[DIMENSION_MAX];
    size_t count = 0;
    struct rng rng;

    rng_init(&rng, key(instance), 0, STREAM_UNIT);
    for (size_t i = 0; i < UNIT_DRAWS && count < UNIT_POINTS; i++) {
        if (instance_random(instance, &rng, point, err) < 0)
            return -1;
        coordinates(instance, point, x);
        values[count] = instance->problem->function(instance, x, outcomes);
        count += !isnan(values[count]) &&
                 outcomes_satisfied(instance->problem, outcomes);
    }
    qsort(values, count, sizeof(double), compare);
    instance->unit = count > 0 ? values[count / 2] - instance->best : 0;
    if (!(instance->unit > 0) || !isfinite(instance->unit))
        return err_set(err, ERR_FAILED, "%s: random points are of no use",
                       instance->problem->name);
    return 0;
}

static int set_up(struct instance *instance, struct err *err)
{
    const struct problem *problem = instance->problem;

    instance->env = expr_env_create(err);
    if (instance->env == NULL)
        return -1;
    instance->space = space_create(instance->env);
    rng_init(&instance->rng, key(instance), 0, STREAM_INSTANCE);
    if (problem->build(instance, err) < 0)
        return -1;
    instance->dimension = space_count(instance->space);
    shuffle_categories(instance);
    if (draw_target(instance, err) < 0)
        return -1;
    for (size_t i = 0; i < COEFFICIENTS; i++)
        instance->coefficients[i] = rng_uniform(&instance->rng);
    instance->scale = pow(10, -2 + 5 * rng_uniform(&instance->rng));
    instance->offset = instance->scale * (8 * rng_uniform(&instance->rng) - 4);
    if (problem->place != NULL)
        problem->place(instance);
    return measure_unit(instance, err);
}

struct instance *instance_create(const struct problem *problem, uint64_t seed,
                                 struct err *err)
{
    struct instance *instance = mem_zero(sizeof(*instance));

    instance->problem = problem;
    instance->seed = seed;
    if (set_up(instance, err) < 0) {
        instance_destroy(instance);
        return NULL;
    }
    return instance;
}

void instance_destroy(struct instance *instance)
{
    if (instance == NULL)
        return;
    for (size_t i = 0; i < DIMENSION_MAX; i++)
        free(instance->shuffle[i]);
    free(instance->state);
    space_destroy(instance->space);
    expr_env_destroy(instance->env);
    free(instance);
}

static double warp(enum warp kind, double measure)
{
    if (kind == WARP_EXP)
        return exp(fmin(4 * measure, 500));
    if (kind == WARP_LOG)
        return log(fmax(measure, 0) + 1e-3);
    return measure;
}

/* Standard normal, by Box and Muller. */
static double noise(const struct instance *instance, uint64_t trial)
{
    struct rng rng;
    double radius;

    rng_init(&rng, key(instance), trial, STREAM_NOISE);
    radius = sqrt(-2 * log(1 - rng_uniform(&rng)));
    return radius * cos(2 * M_PI * rng_uniform(&rng));
}

void instance_evaluate(const struct instance *instance,
                       const struct value *point, uint64_t trial,
                       struct evaluation *evaluation)
{
    const struct problem *problem = instance->problem;
    double x[DIMENSION_MAX];
    double f, told;

    coordinates(instance, point, x);
    f = problem->function(instance, x, evaluation->outcomes);
    if (isnan(f)) {
        evaluation->outcome = OUTCOME_FAILED;
        evaluation->value = evaluation->measure = NAN;
        return;
    }
    evaluation->outcome = OUTCOME_COMPLETE;
    evaluation->measure = (f - instance->best) / instance->unit;
    told = evaluation->measure;
    if (problem->noise > 0)
        told += problem->noise * noise(instance, trial);
    evaluation->value =
        instance->offset + instance->scale * warp(problem->warp, told);
}
