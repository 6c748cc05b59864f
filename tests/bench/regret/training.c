/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/bench/regret/problem.h"

/*
 * What training a model looks like to a tuner, made up: losses that fall
 * slowly as the step size grows, then jump to the loss of guessing; ridges
 * where two settings make up for each other; settings that matter only when
 * they are far off; limits of memory. All are 0 at the target, but where a
 * limit keeps it out of reach.
 */

/* The loss of guessing, towards which great losses bend. */
static double saturate(double loss)
{
    return 2.3 * (1 - exp(-loss / 2.3));
}

static double square(double x)
{
    return x * x;
}

/* d decades from the best step size: too small costs time, too great all. */
static double step_size(double d)
{
    if (d < 0)
        return 1.2 * d * d / (1 - d);
    return d * d + 4 * square(fmax(0, d - 0.4));
}

/* Less than the target costs little, more costs much. */
static double one_sided(double d)
{
    return d < 0 ? 0.3 * d * d : 6 * d * d;
}

/* [count] differences from the target; inactive: 0. */
static void differences(const struct instance *instance, const double *x,
                        double *d)
{
    for (size_t i = 0; i < instance->dimension; i++)
        d[i] = isnan(x[i]) ? 0 : x[i] - instance->target[i];
}

static const struct param momentum_params[] = {
    FLOAT("lr", 1e-5, 10, LOG), FLOAT("momentum", 0, 0.999, REVERSE_LOG),
    FLOAT("weight_decay", 1e-7, 0.1, LOG), FLOAT("warmup", 0, 0.5, LINEAR)};

/* The step is lr / (1 - momentum). */
static double momentum(const struct instance *instance, const double *x,
                       double *outcomes)
{
    double d[DIMENSION_MAX];

    (void)outcomes;
    differences(instance, x, d);
    return saturate(step_size(6 * d[0] + 3 * d[1] - 0.8 * d[3]) + square(d[1]) +
                    one_sided(d[2]) + 0.3 * square(d[3]));
}

static const struct param boosting_params[] = {
    INT("trees", 10, 2000, 0, LOG),       FLOAT("lr", 1e-3, 1, LOG),
    INT("depth", 1, 12, 0, LINEAR),       INT("leaf", 1, 64, 0, LOG),
    FLOAT("subsample", 0.3, 1.0, LINEAR), FLOAT("columns", 0.1, 1.0, LINEAR),
    FLOAT("lambda", 1e-4, 100, LOG)};

/* Trees times lr, and depth against leaf and lambda, are ridges. */
static double boosting(const struct instance *instance, const double *x,
                       double *outcomes)
{
    double d[DIMENSION_MAX];
    double fit, form;

    (void)outcomes;
    differences(instance, x, d);
    fit = 2.3 * d[0] + 3 * d[1];
    form = d[2] - 0.6 * d[3] - 0.4 * d[6];
    return (fit < 0 ? fit * fit / (1 - fit) : 0.25 * fit * fit) +
           2 * square(form + 0.2 * fit) + 0.2 * square(d[1]) +
           0.3 * square(d[4] + 0.5 * d[5]) + 0.3 * square(d[5]) +
           0.1 * fabs(d[6]) + 0.05 * square(sin(9 * d[4])) + 0.3 * square(d[3]);
}

static const struct param noisy_params[] = {
    FLOAT("lr", 1e-6, 1, LOG), FLOAT("dropout", 0, 0.8, LINEAR),
    INT("batch", 4, 4096, 0, LOG), FLOAT("smoothing", 0, 0.3, LINEAR),
    FLOAT("clip", 1e-2, 1e2, LOG)};

static double noisy(const struct instance *instance, const double *x,
                    double *outcomes)
{
    double d[DIMENSION_MAX];

    (void)outcomes;
    differences(instance, x, d);
    return saturate(step_size(6 * d[0] - 2 * d[2]) + 2 * square(d[1]) +
                    one_sided(d[2]) + square(d[3] + 0.4 * d[1]) +
                    one_sided(-d[4]) / 4);
}

static const struct value batches[] = {NUMBER(8),  NUMBER(16),  NUMBER(32),
                                       NUMBER(64), NUMBER(128), NUMBER(256),
                                       NUMBER(512)};
static const struct param memory_params[] = {
    INT("width", 32, 1024, 0, LOG), VALUES("batch", ORDINAL, batches),
    INT("context", 64, 1024, 64, LINEAR), FLOAT("lr", 1e-5, 1, LOG),
    FLOAT("dropout", 0, 0.5, LINEAR)};
static const char *const memory_constraints[] = {
    "width * batch * context <= 4194304", NULL};

static double memory(const struct instance *instance, const double *x,
                     double *outcomes)
{
    double d[DIMENSION_MAX];

    (void)outcomes;
    differences(instance, x, d);
    return saturate(2 * square(d[0]) + 0.7 * square(d[1]) + 1.5 * square(d[2]) +
                    step_size(5 * d[3] - 0.5 * d[1]) + square(d[4]));
}

/* More of all three would be better than fits; the best that does is found by
 * trying all. The other two parameters can always be right. */
static void place_memory(struct instance *instance)
{
    const struct param *width = space_param(instance->space, 0);
    const struct param *context = space_param(instance->space, 2);
    double *target = instance->target;

    for (size_t i = 0; i < 3; i++)
        target[i] = 0.6 + 0.5 * instance->coefficients[i];
    target[3] = 0.3 + 0.4 * target[3];
    instance->best = INFINITY;
    for (uint64_t i = 0; i < param_cardinality(width); i++) {
        struct value value = param_value_at(width, i);
        double x = param_to_unit(width, &value);

        for (size_t b = 0; b < ARRAY_LEN(batches); b++) {
            double y = ((double)b + 0.5) / (double)ARRAY_LEN(batches);
            int64_t room = 4194304 / (value.integer * batches[b].integer) / 64;
            double count = (double)param_cardinality(context);
            double most = (fmin((double)room, count) - 0.5) / count;
            double ideal = (floor(target[2] * count) + 0.5) / count;
            double z = fmin(most, ideal);
            double point[] = {x, y, z, 0, target[4]};

            point[3] = target[3] + 0.1 * (y - target[1]);
            if (room >= 1)
                instance->best =
                    fmin(instance->best, memory(instance, point, NULL));
        }
    }
}

static const struct param adam_params[] = {
    FLOAT("lr", 1e-6, 1, LOG), FLOAT("beta1", 0, 0.99, REVERSE_LOG),
    FLOAT("beta2", 0.5, 0.9999, REVERSE_LOG), FLOAT("epsilon", 1e-10, 1, LOG),
    INT("batch", 8, 1024, 0, LOG)};

/* Epsilon matters when it is great, and then asks for a greater lr. */
static double adam(const struct instance *instance, const double *x,
                   double *outcomes)
{
    double d[DIMENSION_MAX];

    (void)outcomes;
    differences(instance, x, d);
    return saturate(step_size(6 * d[0] - d[4] - 2 * fmax(0, d[3])) +
                    0.6 * square(d[1]) + one_sided(d[2]) / 3 +
                    one_sided(d[3]) / 3 + 0.4 * square(d[4]));
}

static const struct param widths_params[] = {
    INT("width1", 16, 2048, 0, LOG), INT("width2", 16, 2048, 0, LOG),
    INT("width3", 16, 2048, 0, LOG), FLOAT("rate", 0, 0.9, LINEAR),
    FLOAT("lr", 1e-4, 1, LOG)};
static const char *const widths_constraints[] = {
    "width1 >= width2 and width2 >= width3",
    "width1 * width2 + width2 * width3 <= 1000000", NULL};

static double widths(const struct instance *instance, const double *x,
                     double *outcomes)
{
    double d[DIMENSION_MAX];

    (void)outcomes;
    differences(instance, x, d);
    return saturate(2 * square(d[0] + 0.5 * d[1]) + 1.5 * square(d[1] - d[2]) +
                    square(d[2]) + square(d[3] - 0.5 * d[0]) +
                    step_size(4 * d[4] + 1.5 * (d[0] + d[1] + d[2]) / 3));
}

#define TRAINING(what, in_set, measure, spread, limits, placing)               \
    {                                                                          \
        .name = "training-" #measure, .kind = (what), .set = SET_##in_set,     \
        .data =                                                                \
            &(const struct layout){measure##_params,                           \
                                   ARRAY_LEN(measure##_params), NULL, limits}, \
        .noise = (spread), .build = instance_lay_out, .place = (placing),      \
        .function = measure                                                    \
    }

const struct problem training_problems[] = {
    TRAINING("training", REPORT, momentum, 0, NULL, NULL),
    TRAINING("training", REPORT, boosting, 0, NULL, NULL),
    TRAINING("noisy", REPORT, noisy, 0.03, NULL, NULL),
    TRAINING("constrained", REPORT, memory, 0, memory_constraints,
             place_memory),
    TRAINING("training", TUNE, adam, 0.01, NULL, NULL),
    TRAINING("constrained", TUNE, widths, 0, widths_constraints, NULL),
    {.name = NULL},
};
