/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/models/cmaes_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/history/history.h"
#include "strategies/models/cma.h"
#include "strategies/space/space.h"
#include "strategies/strategy_impl.h"

/* Finite parameters of more values are as good as continuous. */
enum { FINITE_MAX = 1 << 20 };

/* The chance that a draw has a category other than where all have settled. */
static const double categories_kept = 0.8;

/* How far the probabilities of categories go to those of the better half, in
 * an update and at the start. */
static const double choice_rate = 0.6, start_rate = 0.5;

struct axis {
    size_t param;
    bool is_finite;
};

struct choice {
    size_t param, count;
    double *shares; /* [count], sum to 1 */
    double least;
};

struct cmaes_model {
    struct space *space;
    struct cmaes_model_options options;
    struct cma *cma; /* NULL where there is no axis */
    struct axis *axes;
    size_t axis_count;
    struct choice *choices;
    size_t choice_count;
    double *draws;  /* [axis_count], for cmaes_model_draw */
    double *points; /* [population][axis_count], for cmaes_model_update */
};

static bool is_choice(const struct param *param)
{
    return param->kind == PARAM_CATEGORICAL || param->kind == PARAM_BOOL;
}

void cmaes_model_count(const struct space *space, size_t *axes, size_t *choices)
{
    *axes = *choices = 0;
    for (size_t i = 0; i < space_count(space); i++) {
        const struct param *param = space_param(space, i);

        if (is_choice(param))
            *choices += param_cardinality(param) - 1;
        else
            *axes += param->kind != PARAM_CONST;
    }
}

static void add_choice(struct cmaes_model *model, size_t index)
{
    struct choice *choice = &model->choices[model->choice_count++];

    choice->param = index;
    choice->count = param_cardinality(space_param(model->space, index));
    choice->shares = mem_array(choice->count, sizeof(double));
    for (size_t k = 0; k < choice->count; k++)
        choice->shares[k] = 1 / (double)choice->count;
}

static void add_axis(struct cmaes_model *model, size_t index)
{
    uint64_t n = param_cardinality(space_param(model->space, index));

    model->axes[model->axis_count++] =
        (struct axis){.param = index, .is_finite = n > 0 && n <= FINITE_MAX};
}

struct cmaes_model *cmaes_model_create(
    struct space *space, const struct cmaes_model_options *options,
    const double *unit)
{
    struct cmaes_model *model = mem_zero(sizeof(*model));
    size_t count = space_count(space);

    model->space = space;
    model->options = *options;
    model->axes = mem_array(count, sizeof(*model->axes));
    model->choices = mem_array(count, sizeof(*model->choices));
    for (size_t i = 0; i < count; i++) {
        const struct param *param = space_param(space, i);

        if (is_choice(param) && param_cardinality(param) > 1)
            add_choice(model, i);
        else if (!is_choice(param) && param->kind != PARAM_CONST)
            add_axis(model, i);
    }
    for (size_t i = 0; i < model->choice_count; i++)
        model->choices[i].least =
            (1 - pow(categories_kept, 1 / (double)model->choice_count)) /
            (double)(model->choices[i].count - 1);
    model->draws = mem_array(model->axis_count, sizeof(double));
    model->points =
        mem_array(options->population * model->axis_count, sizeof(double));
    if (model->axis_count == 0)
        return model;
    for (size_t i = 0; i < model->axis_count; i++)
        model->draws[i] = unit[model->axes[i].param];
    model->cma = cma_create(
        &(struct cma_options){
            .dimension = model->axis_count,
            .population = options->population,
            .diagonal_updates = options->diagonal_updates,
            .adapts_rates = options->adapts_rates,
        },
        model->draws, options->deviation);
    return model;
}

void cmaes_model_destroy(struct cmaes_model *model)
{
    if (model == NULL)
        return;
    for (size_t i = 0; i < model->choice_count; i++)
        free(model->choices[i].shares);
    cma_destroy(model->cma);
    free(model->axes);
    free(model->choices);
    free(model->draws);
    free(model->points);
    free(model);
}

static double mirror(double x)
{
    x = fmod(fabs(x), 2);
    return x > 1 ? 2 - x : x;
}

static size_t pick(const struct choice *choice, struct rng *rng, double even)
{
    double u = rng_uniform(rng);
    size_t k = 0;

    for (; k + 1 < choice->count; k++) {
        u -= (1 - even) * choice->shares[k] + even / (double)choice->count;
        if (u < 0)
            break;
    }
    return k;
}

void cmaes_model_draw(const struct cmaes_model *model, struct rng *rng,
                      double stretch, double *unit)
{
    for (size_t i = 0; i < space_count(model->space); i++)
        unit[i] = 0.5;
    if (model->cma != NULL)
        cma_draw(model->cma, rng, stretch, model->draws);
    for (size_t i = 0; i < model->axis_count; i++) {
        double x = model->draws[i];

        unit[model->axes[i].param] =
            model->axes[i].is_finite ? fmax(0, fmin(x, 1)) : mirror(x);
    }
    for (size_t i = 0; i < model->choice_count; i++) {
        const struct choice *choice = &model->choices[i];
        size_t k = pick(choice, rng, 1 - 1 / stretch);

        unit[choice->param] = ((double)k + 0.5) / (double)choice->count;
    }
}

/* A finite parameter's share, the outermost ones without end. */
static void find_share(const struct cmaes_model *model, size_t axis,
                       double unit, double *low, double *high)
{
    param_share(space_param(model->space, model->axes[axis].param), unit, low,
                high);
    if (*low <= 0)
        *low = -(double)INFINITY;
    if (*high >= 1)
        *high = (double)INFINITY;
}

/* The coordinate that the trial's value may have come from. */
static double place(const struct cmaes_model *model, size_t axis, double unit,
                    struct rng *rng)
{
    double mean = cma_mean(model->cma)[axis];
    double deviation = cma_deviation(model->cma, axis);
    double low = -(double)INFINITY, high = (double)INFINITY, from, to, x;
    double u = rng_uniform(rng) + 0x1p-54;

    if (!isnan(unit) && !model->axes[axis].is_finite)
        return unit;
    if (!isnan(unit))
        find_share(model, axis, unit, &low, &high);
    from = gsl_cdf_ugaussian_P((low - mean) / deviation);
    to = gsl_cdf_ugaussian_P((high - mean) / deviation);
    x = mean + deviation * gsl_cdf_ugaussian_Pinv(from + u * (to - from));
    return fmax(low, fmin(x, high));
}

/* Hamano et al. 2022, section 4: mean and deviation such that the values on
 * both sides of the mean's have a chance of at least alpha together. */
static void keep_margin(struct cmaes_model *model, size_t axis)
{
    double mean = cma_mean(model->cma)[axis];
    double deviation = cma_deviation(model->cma, axis);
    double alpha =
        1 / ((double)model->axis_count * (double)model->options.population);
    double far = gsl_cdf_ugaussian_Qinv(alpha) * deviation;
    double far_half = gsl_cdf_ugaussian_Qinv(alpha / 2) * deviation;
    double low, high, below, above, fit;

    find_share(model, axis, fmax(0, fmin(mean, 1)), &low, &high);
    if (isinf(low)) {
        cma_move(model->cma, axis, fmax(mean, high - far));
    } else if (isinf(high)) {
        cma_move(model->cma, axis, fmin(mean, low + far));
    } else if (mean - low > far_half || high - mean > far_half) {
        below = fmin(mean - low, far_half) / deviation;
        above = fmin(high - mean, far_half) / deviation;
        fit = (high - low) / (below + above);
        cma_stretch(model->cma, axis, fit / deviation);
        cma_move(model->cma, axis, low + below * fit);
    }
}

static void bound_shares(struct choice *choice)
{
    double room = 0, excess = 0;

    for (size_t k = 0; k < choice->count; k++) {
        excess += fmax(choice->least - choice->shares[k], 0);
        choice->shares[k] = fmax(choice->least, choice->shares[k]);
        room += choice->shares[k] - choice->least;
    }
    for (size_t k = 0; k < choice->count && room > 0; k++)
        choice->shares[k] -=
            excess * (choice->shares[k] - choice->least) / room;
}

/* Points as good as each other have equal weights, which sum to 1. */
static double weigh(const struct cmaes_model *model, size_t rank,
                    const size_t *ties)
{
    size_t n = model->options.population, first = ties[rank], end = rank + 1;
    size_t half = n / 2;
    double better = (double)half, sum = 0;

    while (end < n && ties[end] == first)
        end++;
    for (size_t i = first; i < end && i < half; i++)
        sum += 2 * (better - (double)i) / (better * (better + 1));
    return sum / (double)(end - first);
}

/* CatCMA: along the natural gradient, which leads to what was seen. */
static void lean_to(struct choice *choice, const struct history *history,
                    const size_t *order, const double *weights, size_t count)
{
    double total = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(history_unit(history, order[i])[choice->param]))
            total += weights[i];
    for (size_t k = 0; k < choice->count; k++)
        choice->shares[k] *= 1 - total;
    for (size_t i = 0; i < count; i++) {
        double unit = history_unit(history, order[i])[choice->param];

        if (!isnan(unit))
            choice->shares[history_choice(unit, choice->count)] += weights[i];
    }
    bound_shares(choice);
}

void cmaes_model_lean(struct cmaes_model *model, const struct history *history,
                      const size_t *order, size_t count)
{
    double *weights = mem_array(count, sizeof(*weights));

    for (size_t i = 0; i < count; i++)
        weights[i] = start_rate / (double)count;
    for (size_t i = 0; i < model->choice_count; i++)
        lean_to(&model->choices[i], history, order, weights, count);
    free(weights);
}

void cmaes_model_update(struct cmaes_model *model,
                        const struct history *history, const size_t *order,
                        const size_t *ties)
{
    size_t d = model->axis_count, n = model->options.population;
    double *weights = mem_array(n, sizeof(*weights));

    for (size_t i = 0; i < n; i++)
        weights[i] = choice_rate * weigh(model, i, ties);
    for (size_t i = 0; i < model->choice_count; i++)
        lean_to(&model->choices[i], history, order, weights, n);
    free(weights);
    for (size_t i = 0; i < n && d > 0; i++) {
        const double *unit = history_unit(history, order[i]);
        struct rng rng;

        rng_init(&rng, model->options.seed, order[i], STREAM_CMAES + 1);
        for (size_t k = 0; k < d; k++)
            model->points[i * d + k] =
                place(model, k, unit[model->axes[k].param], &rng);
    }
    if (d > 0)
        cma_update(model->cma, model->points, ties);
    for (size_t k = 0; k < d; k++)
        if (model->axes[k].is_finite && !cma_is_degenerate(model->cma))
            keep_margin(model, k);
}

bool cmaes_model_is_narrow(const struct cmaes_model *model, double least)
{
    bool any = false;

    for (size_t k = 0; k < model->axis_count; k++) {
        if (model->axes[k].is_finite)
            continue;
        if (cma_deviation(model->cma, k) > least)
            return false;
        any = true;
    }
    return any;
}

bool cmaes_model_is_degenerate(const struct cmaes_model *model)
{
    return model->cma != NULL && cma_is_degenerate(model->cma);
}

double cmaes_model_step_size(const struct cmaes_model *model)
{
    return model->cma != NULL ? cma_largest_deviation(model->cma) : 0;
}

double cmaes_model_learning_rate(const struct cmaes_model *model)
{
    return model->cma != NULL ? cma_learning_rate(model->cma) : 1;
}
