/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/bench/regret/problem.h"

/*
 * Conditional spaces, made up after what people tune: an optimizer with
 * settings of its own, layers each with a width, a model to be chosen from
 * four. A choice that is not the best costs a fixed amount, and has a best
 * place of its own; all are 0 at the target.
 */

static double square(double x)
{
    return x * x;
}

static double off(const struct instance *instance, const double *x, size_t i)
{
    return x[i] - instance->target[i];
}

/* How many places behind the best value a choice comes, going round. */
static size_t behind(const struct instance *instance, const double *x, size_t i)
{
    size_t count = (size_t)param_cardinality(space_param(instance->space, i));

    return (instance_choice(instance, x, i) + count -
            instance_choice(instance, instance->target, i)) %
           count;
}

static double step_size(double d)
{
    return d < 0 ? d * d / (1 - d) : d * d + 3 * square(fmax(0, d - 0.5));
}

static const struct value optimizers[] = {TEXT("sgd"), TEXT("adam"),
                                          TEXT("rmsprop"), TEXT("lion")};
static const struct value schedules[] = {TEXT("constant"), TEXT("cosine"),
                                         TEXT("step")};
static const struct value batches[] = {NUMBER(16), NUMBER(32), NUMBER(64),
                                       NUMBER(128), NUMBER(256)};

enum {
    OPTIMIZER,
    LR,
    MOMENTUM,
    NESTEROV,
    BETA,
    DECAY,
    SCHEDULE,
    WARMUP,
    DROP,
    EVERY,
    BATCH
};

static const struct param optimizer_params[] = {
    VALUES("optimizer", CATEGORICAL, optimizers),
    FLOAT("lr", 1e-5, 1, LOG),
    FLOAT("momentum", 0, 0.99, REVERSE_LOG),
    BOOL("nesterov"),
    FLOAT("beta2", 0.8, 0.9999, REVERSE_LOG),
    FLOAT("decay", 0.5, 0.999, REVERSE_LOG),
    VALUES("schedule", CATEGORICAL, schedules),
    INT("warmup", 0, 20, 0, LINEAR),
    FLOAT("drop", 0.05, 0.9, LINEAR),
    INT("every", 1, 30, 0, LOG),
    VALUES("batch", ORDINAL, batches)};
static const char *const optimizer_when[][2] = {
    {"momentum", "optimizer = 'sgd'"},
    {"nesterov", "momentum > 0.3"},
    {"beta2", "optimizer in ('adam', 'lion')"},
    {"decay", "optimizer = 'rmsprop'"},
    {"warmup", "schedule = 'cosine'"},
    {"drop", "schedule = 'step'"},
    {"every", "schedule = 'step'"},
    {NULL, NULL}};

static double choose_optimizer(const struct instance *instance, const double *x,
                               double *outcomes)
{
    static const double weights[] = {
        [MOMENTUM] = 0.5, [BETA] = 0.3,  [DECAY] = 0.4, [WARMUP] = 0.2,
        [DROP] = 0.3,     [EVERY] = 0.3, [BATCH] = 0.3};
    static const double cost[] = {0, 0.04, 0.08, 0.2};
    const double *shift = instance->coefficients;
    size_t late = behind(instance, x, OPTIMIZER);
    double sum = cost[late] + 0.1 * (double)behind(instance, x, SCHEDULE);
    double step = 5 * off(instance, x, LR) - off(instance, x, BATCH);

    (void)outcomes;
    if (late > 0)
        step += 3 * (shift[late] - 0.5);
    if (!isnan(x[MOMENTUM]))
        step += 2 * off(instance, x, MOMENTUM);
    for (size_t i = 0; i < ARRAY_LEN(weights); i++)
        if (weights[i] > 0 && !isnan(x[i]))
            sum += weights[i] * square(off(instance, x, i));
    if (!isnan(x[NESTEROV]) && behind(instance, x, NESTEROV) > 0)
        sum += 0.03;
    return 2 * (1 - exp(-(sum + step_size(step)) / 2));
}

static const struct value activations[] = {TEXT("relu"), TEXT("gelu"),
                                           TEXT("tanh")};
static const struct param layer_params[] = {
    INT("layers", 1, 6, 0, LINEAR),
    INT("width1", 8, 1024, 0, LOG),
    INT("width2", 8, 1024, 0, LOG),
    INT("width3", 8, 1024, 0, LOG),
    INT("width4", 8, 1024, 0, LOG),
    INT("width5", 8, 1024, 0, LOG),
    INT("width6", 8, 1024, 0, LOG),
    FLOAT("lr", 1e-5, 0.1, LOG),
    FLOAT("dropout", 0, 0.7, LINEAR),
    VALUES("activation", CATEGORICAL, activations)};
static const char *const layer_when[][2] = {
    {"width2", "layers >= 2"}, {"width3", "layers >= 3"},
    {"width4", "layers >= 4"}, {"width5", "layers >= 5"},
    {"width6", "layers >= 6"}, {NULL, NULL}};

/* Deeper wants smaller steps and, where wide, more dropout. */
static double stack_layers(const struct instance *instance, const double *x,
                           double *outcomes)
{
    double deeper = off(instance, x, 0);
    double sum = 0.8 * square(deeper), wider = 0, active = 0;

    (void)outcomes;
    for (size_t i = 1; i <= 6; i++) {
        if (isnan(x[i]))
            continue;
        sum += 0.6 * square(off(instance, x, i));
        wider += off(instance, x, i);
        active++;
    }
    return sum + step_size(4 * off(instance, x, 7) + deeper) +
           0.8 * square(off(instance, x, 8) - 0.4 * wider / active) +
           0.08 * (double)behind(instance, x, 9);
}

static const struct value models[] = {TEXT("linear"), TEXT("forest"),
                                      TEXT("kernel"), TEXT("network")};
static const struct value scalers[] = {TEXT("none"), TEXT("standard"),
                                       TEXT("quantile")};

enum {
    MODEL,
    SCALER,
    PENALTY,
    L1,
    TREES,
    DEPTH,
    FEATURES,
    C,
    GAMMA,
    UNITS,
    RATE,
    ALPHA
};

static const struct param model_params[] = {
    VALUES("model", CATEGORICAL, models),
    VALUES("scaler", CATEGORICAL, scalers),
    FLOAT("penalty", 1e-6, 100, LOG),
    BOOL("l1"),
    INT("trees", 10, 1000, 0, LOG),
    INT("depth", 2, 20, 0, LINEAR),
    FLOAT("features", 0.1, 1, LINEAR),
    FLOAT("c", 1e-3, 1e4, LOG),
    FLOAT("gamma", 1e-5, 10, LOG),
    INT("units", 8, 512, 0, LOG),
    FLOAT("rate", 1e-5, 1, LOG),
    FLOAT("alpha", 1e-7, 1, LOG)};
static const char *const model_when[][2] = {
    {"scaler", "model <> 'forest'"}, {"penalty", "model = 'linear'"},
    {"l1", "model = 'linear'"},      {"trees", "model = 'forest'"},
    {"depth", "model = 'forest'"},   {"features", "model = 'forest'"},
    {"c", "model = 'kernel'"},       {"gamma", "model = 'kernel'"},
    {"units", "model = 'network'"},  {"rate", "model = 'network'"},
    {"alpha", "model = 'network'"},  {NULL, NULL}};

static double choose_model(const struct instance *instance, const double *x,
                           double *outcomes)
{
    static const double cost[] = {0, 0.05, 0.15, 0.3};
    double sum = cost[behind(instance, x, MODEL)];

    (void)outcomes;
    if (!isnan(x[SCALER]))
        sum += 0.06 * (double)behind(instance, x, SCALER);
    if (!isnan(x[PENALTY]))
        sum += 0.5 * fabs(off(instance, x, PENALTY)) +
               0.02 * (double)behind(instance, x, L1);
    if (!isnan(x[TREES]))
        sum += 0.2 * fmax(0, -off(instance, x, TREES)) +
               square(off(instance, x, DEPTH)) +
               0.5 * square(off(instance, x, FEATURES) +
                            0.5 * off(instance, x, DEPTH));
    if (!isnan(x[C])) {
        double along = 3 * (off(instance, x, C) + off(instance, x, GAMMA));
        double across = off(instance, x, GAMMA);

        sum += 1 - exp(-square(along)) + 2 * square(across);
    }
    if (!isnan(x[UNITS]))
        sum += step_size(5 * off(instance, x, RATE)) +
               0.4 * square(off(instance, x, UNITS)) +
               0.3 * square(off(instance, x, ALPHA)) +
               0.03 * (1 - cos(20 * off(instance, x, UNITS)));
    return sum;
}

static const struct value kernels[] = {TEXT("linear"), TEXT("rbf"),
                                       TEXT("poly"), TEXT("sigmoid")};
static const struct param kernel_params[] = {
    VALUES("kernel", CATEGORICAL, kernels), FLOAT("c", 1e-4, 1e4, LOG),
    FLOAT("gamma", 1e-5, 100, LOG),         INT("degree", 2, 6, 0, LINEAR),
    FLOAT("coef0", -1, 1, LINEAR),          BOOL("shrinking")};
static const char *const kernel_when[][2] = {
    {"gamma", "kernel <> 'linear'"},
    {"degree", "kernel = 'poly'"},
    {"coef0", "kernel in ('poly', 'sigmoid')"},
    {NULL, NULL}};

static double choose_kernel(const struct instance *instance, const double *x,
                            double *outcomes)
{
    static const double cost[] = {0, 0.1, 0.25, 0.35};
    size_t late = behind(instance, x, 0);
    double sum = cost[late] + 0.01 * (double)behind(instance, x, 5);
    double c = off(instance, x, 1) + (late > 0 ? 0.2 : 0);

    (void)outcomes;
    if (isnan(x[2]))
        return sum + 0.7 * square(c);
    sum += 1 - exp(-4 * square(c + 0.7 * off(instance, x, 2))) +
           1.5 * square(off(instance, x, 2));
    if (!isnan(x[3]))
        sum += 0.5 * square(off(instance, x, 3));
    if (!isnan(x[4]))
        sum += 0.3 * square(off(instance, x, 4));
    return sum;
}

static const struct value blocks[] = {TEXT("dense"), TEXT("conv"),
                                      TEXT("skip")};
static const struct param block_params[] = {
    INT("blocks", 1, 4, 0, LINEAR),       VALUES("kind1", CATEGORICAL, blocks),
    VALUES("kind2", CATEGORICAL, blocks), VALUES("kind3", CATEGORICAL, blocks),
    VALUES("kind4", CATEGORICAL, blocks), VALUES("size1", ORDINAL, batches),
    VALUES("size2", ORDINAL, batches),    VALUES("size3", ORDINAL, batches),
    VALUES("size4", ORDINAL, batches),    FLOAT("lr", 1e-4, 1, LOG)};
static const char *const block_when[][2] = {
    {"kind2", "blocks >= 2"},     {"kind3", "blocks >= 3"},
    {"kind4", "blocks >= 4"},     {"size1", "kind1 <> 'skip'"},
    {"size2", "kind2 <> 'skip'"}, {"size3", "kind3 <> 'skip'"},
    {"size4", "kind4 <> 'skip'"}, {NULL, NULL}};

static double build_blocks(const struct instance *instance, const double *x,
                           double *outcomes)
{
    double deeper = off(instance, x, 0);
    double sum = 0.7 * square(deeper);

    (void)outcomes;
    for (size_t i = 1; i <= 4; i++) {
        if (!isnan(x[i]))
            sum += 0.07 * (double)behind(instance, x, i);
        if (!isnan(x[i + 4]))
            sum += 0.4 * square(off(instance, x, i + 4));
    }
    return sum + step_size(4 * off(instance, x, 9) + 0.5 * deeper);
}

#define TREE(label, in_set, what, measure)                                     \
    {                                                                          \
        .name = "tree-" label, .kind = "conditional", .set = SET_##in_set,     \
        .data =                                                                \
            &(const struct layout){what##_params, ARRAY_LEN(what##_params),    \
                                   what##_when, NULL},                         \
        .build = instance_lay_out, .function = measure                         \
    }

const struct problem tree_problems[] = {
    TREE("optimizer", REPORT, optimizer, choose_optimizer),
    TREE("layers", REPORT, layer, stack_layers),
    TREE("model", REPORT, model, choose_model),
    TREE("kernel", TUNE, kernel, choose_kernel),
    TREE("blocks", TUNE, block, build_blocks),
    {.name = NULL},
};
