/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/history/standings.h"
#include "strategies/methods/startup.h"
#include "strategies/models/axes.h"
#include "strategies/models/parzen.h"
#include "strategies/strategy_impl.h"

/*
 * The tree-structured Parzen estimator: J. Bergstra, R. Bardenet, Y. Bengio and
 * B. Kegl, "Algorithms for hyper-parameter optimization", NIPS 2011, section 4;
 * over whole trials as S. Falkner, A. Klein and F. Hutter, "BOHB", ICML 2018,
 * section 3.2. What its parts are worth: S. Watanabe, "Tree-structured Parzen
 * estimator: understanding its algorithm components", arXiv 2304.11127.
 *
 * The best share of the trials makes a density l, all others a density g; of
 * points drawn from l, the one with the largest l / g is tried. The density is
 * strategies/models/parzen.h, one kernel a trial, even along inactive axes; so
 * that conditional spaces need no models apart. Trials that are pending, failed
 * or break constraints on outcomes count in g; so do those that a schedule let
 * go less far than those it compares.
 *
 * Each suggestion makes both densities anew from the history. Only the order of
 * the trials is kept (strategies/history/standings.h).
 */

struct tuning {
    double startup;    /* results, and trials pending, before a model */
    double results;    /* of these at least are results */
    double good_share; /* of the results are in l */
    double good_max;
    double bad_max; /* kernels of g before they are thinned out */
    double candidates;
    double good_width; /* factor of the bandwidth */
    double bad_width;
    double width_min;
    double spread_prior; /* trials' worth of the even density in a spread */
    double choice_width; /* how much the values other than the kernel's get */
    double prior;        /* weight of the even kernel, in trials */
    double rank_power;   /* how much better trials weigh more in l */
    double pending;      /* weight of a pending trial in g */
    double earlier;      /* trials' worth of all earlier runs together */
};

static const struct tuning tuning = {
    .startup = 10,
    .results = 4,
    .good_share = 0.15,
    .good_max = 50,
    .bad_max = 500,
    .candidates = 24,
    .good_width = 0.2,
    .bad_width = 0.1,
    .width_min = 0.003,
    .spread_prior = 1,
    .choice_width = 0.5,
    .prior = 0.3,
    .rank_power = 1.5,
    .pending = 0.2,
    .earlier = 20,
};

/* Trials that make a density. */
struct sample {
    const double **units; /* [capacity]: rows of the history */
    double *weights;      /* [capacity] */
    size_t count, capacity;
};

struct tpe {
    struct space *space;
    uint64_t seed;
    struct startup *startup;
    bool is_conditional;
    struct axes axes;
    struct standings standings;
    struct standings earlier; /* of history->transfer */
    struct sample good_sample, bad_sample;
    struct parzen *good, *bad;
    double *widths;              /* [axes.count] */
    double *unit;                /* [space_count] */
    float *coordinates;          /* [axes.count] */
    float *points;               /* [candidates][axes.count] */
    float *good_logs, *bad_logs; /* [candidates] */
};

static void clear_sample(struct sample *sample)
{
    free(sample->units);
    free(sample->weights);
}

static void tpe_destroy(void *state)
{
    struct tpe *tpe = state;

    if (tpe == NULL)
        return;
    startup_destroy(tpe->startup);
    parzen_destroy(tpe->good);
    parzen_destroy(tpe->bad);
    axes_clear(&tpe->axes);
    standings_clear(&tpe->standings);
    standings_clear(&tpe->earlier);
    clear_sample(&tpe->good_sample);
    clear_sample(&tpe->bad_sample);
    free(tpe->widths);
    free(tpe->unit);
    free(tpe->coordinates);
    free(tpe->points);
    free(tpe->good_logs);
    free(tpe->bad_logs);
    free(tpe);
}

static void *tpe_create(const struct strategy_options *options,
                        struct space *space, struct err *err)
{
    struct tpe *tpe = mem_zero(sizeof(*tpe));
    size_t width, candidates = (size_t)tuning.candidates;

    tpe->space = space;
    tpe->seed = options->seed;
    tpe->startup = startup_create(options, space, err);
    if (tpe->startup == NULL) {
        tpe_destroy(tpe);
        return NULL;
    }
    axes_init(&tpe->axes, space);
    for (size_t i = 0; i < space_count(space); i++)
        tpe->is_conditional |= space_is_conditional(space, i);
    width = tpe->axes.count;
    tpe->good = parzen_create(&tpe->axes);
    tpe->bad = parzen_create(&tpe->axes);
    tpe->widths = mem_array(width, sizeof(double));
    tpe->unit = mem_array(space_count(space), sizeof(double));
    tpe->coordinates = mem_array(width, sizeof(float));
    tpe->points = mem_array(candidates * width, sizeof(float));
    tpe->good_logs = mem_array(candidates, sizeof(float));
    tpe->bad_logs = mem_array(candidates, sizeof(float));
    return tpe;
}

static void add_trial(struct sample *sample, const double *unit, double weight)
{
    if (sample->count == sample->capacity) {
        sample->capacity = sample->capacity > 0 ? 2 * sample->capacity : 64;
        sample->units =
            mem_resize(sample->units, sample->capacity, sizeof(*sample->units));
        sample->weights = mem_resize(sample->weights, sample->capacity,
                                     sizeof(*sample->weights));
    }
    sample->units[sample->count] = unit;
    sample->weights[sample->count++] = weight;
}

/* Trials of the history with a weight each. */
struct trials {
    const struct history *history;
    const size_t *indices; /* [count] */
    size_t count;
    double weight;
};

/* Evenly spaced ones, at most `most`, that stand for all. */
static void add_thinned(struct sample *sample, struct trials trials,
                        size_t most)
{
    size_t picks = trials.count < most ? trials.count : most;
    double stride = (double)trials.count / (double)picks;

    for (size_t i = 0; i < picks; i++) {
        size_t at = (size_t)(((double)i + 0.5) * stride);

        add_trial(sample, history_unit(trials.history, trials.indices[at]),
                  trials.weight * stride);
    }
}

/* The same of the trials that a schedule let go less far. */
static void add_behind(struct sample *sample, const struct history *history,
                       size_t most)
{
    size_t count = history->behind_count, seen = 0, picks = 0;
    double stride = fmax((double)count / (double)most, 1);

    for (size_t i = 0; seen < count; i++) {
        if (history->states[i] != HISTORY_BEHIND ||
            (double)seen++ < ((double)picks + 0.5) * stride - 0.5)
            continue;
        add_trial(sample, history_unit(history, i), stride);
        picks++;
    }
}

static size_t count_good(const struct standings *standings)
{
    return (size_t)fmin(ceil(tuning.good_share * (double)standings->count),
                        tuning.good_max);
}

/* The trials of l, better ones with more weight, and those of g: what comes
 * next in order, the rest thinned out where it is much. */
static void split_trials(struct tpe *tpe, const struct history *history)
{
    const struct standings *standings = &tpe->standings;
    struct sample *good = &tpe->good_sample, *bad = &tpe->bad_sample;
    size_t count = standings->count, most = (size_t)tuning.bad_max / 2;
    size_t best = count_good(standings);
    size_t next = count - best < most ? count - best : most;
    const size_t *order = standings->order;

    good->count = bad->count = 0;
    for (size_t i = 0; i < best; i++)
        add_trial(
            good, history_unit(history, order[i]),
            pow(log((double)(best + 1) / (double)(i + 1)), tuning.rank_power));
    add_thinned(bad, (struct trials){history, order + best, next, 1}, most);
    add_thinned(
        bad,
        (struct trials){history, order + best + next, count - best - next, 1},
        most);
    add_thinned(
        bad,
        (struct trials){history, standings->lost, standings->lost_count, 1},
        most);
    add_behind(bad, history, most);
    add_thinned(bad,
                (struct trials){history, history->pending,
                                history->pending_count, tuning.pending},
                most);
}

/* Those of earlier runs that guide: all together as a few trials of this one,
 * so that they soon count for little. */
static void add_earlier(struct tpe *tpe, const struct history *transfer)
{
    const struct standings *earlier = &tpe->earlier;
    size_t best = count_good(earlier), most = (size_t)tuning.bad_max / 2;
    double each = fmin(tuning.earlier / (double)earlier->count, 1);

    add_thinned(&tpe->good_sample,
                (struct trials){transfer, earlier->order, best, each}, best);
    add_thinned(&tpe->bad_sample,
                (struct trials){transfer, earlier->order + best,
                                earlier->count - best, each},
                most);
}

/* The standard deviation of the sample along an axis, shrunk to that of the
 * even density; *active is how many trials have a place on it. */
static double find_spread(const struct sample *sample, size_t param,
                          size_t *active)
{
    double weight = 0, sum = 0, squares = 0, variance = 0, count;

    *active = 0;
    for (size_t i = 0; i < sample->count; i++) {
        double u = sample->units[i][param];
        double w = sample->weights[i];

        if (isnan(u))
            continue;
        weight += w;
        sum += w * u;
        squares += w * u * u;
        ++*active;
    }
    count = (double)*active;
    if (count > 0)
        variance = fmax(squares / weight - sum / weight * (sum / weight), 0);
    return sqrt((variance * count + tuning.spread_prior / 12) /
                (count + tuning.spread_prior));
}

/* D. W. Scott's rule ("Multivariate density estimation", 1992, 6.42) from the
 * spread along each axis. */
static void find_widths(struct tpe *tpe, const struct sample *sample,
                        double factor)
{
    double power = -1 / (4 + (double)tpe->axes.count);

    for (size_t i = 0; i < tpe->axes.count; i++) {
        const struct axis *axis = &tpe->axes.list[i];
        size_t active;
        double spread = find_spread(sample, axis->param, &active);
        double width =
            factor * sqrt(12) * spread * pow((double)active + 1, power);
        double others = tuning.choice_width * (double)axis->cardinality /
                        (double)(active + 1);

        width = fmin(fmax(width, fmax(tuning.width_min, axis->step / 2)), 1);
        tpe->widths[i] =
            axis->kind == AXIS_CHOICES ? others / (1 + others) : width;
    }
}

static void make_density(struct tpe *tpe, struct parzen *density,
                         const struct sample *sample, double factor)
{
    double weight = 0;

    find_widths(tpe, sample, factor);
    parzen_begin(density, tpe->widths);
    for (size_t i = 0; i < sample->count; i++) {
        for (size_t k = 0; k < tpe->axes.count; k++)
            tpe->coordinates[k] =
                (float)sample->units[i][tpe->axes.list[k].param];
        parzen_add(density, tpe->coordinates, sample->weights[i]);
        weight += sample->weights[i];
    }
    if (sample->count > 0)
        weight /= (double)sample->count;
    parzen_add(density, NULL, weight > 0 ? tuning.prior * weight : 1);
    parzen_end(density);
}

/* coordinates[axes.count] to ask->point. */
static void decode(struct tpe *tpe, struct ask *ask, const float *coordinates)
{
    for (size_t i = 0; i < space_count(tpe->space); i++)
        tpe->unit[i] = 0.5;
    for (size_t i = 0; i < tpe->axes.count; i++)
        if (!isnan(coordinates[i]))
            tpe->unit[tpe->axes.list[i].param] = (double)coordinates[i];
    space_decode(tpe->space, tpe->unit, ask->point);
}

/* Points of l into tpe->points, NaN where inactive, and log l - log g at them
 * into tpe->good_logs. */
static void draw_candidates(struct tpe *tpe, struct ask *ask, struct rng *rng)
{
    size_t width = tpe->axes.count, count = (size_t)tuning.candidates;

    for (size_t i = 0; i < count; i++) {
        float *point = tpe->points + i * width;

        parzen_draw(tpe->good, rng, point);
        if (!tpe->is_conditional)
            continue;
        decode(tpe, ask, point);
        for (size_t k = 0; k < width; k++)
            if (ask->point[tpe->axes.list[k].param].type == VALUE_NULL)
                point[k] = NAN;
    }
    parzen_log_densities(tpe->good, tpe->points, count, tpe->good_logs);
    parzen_log_densities(tpe->bad, tpe->points, count, tpe->bad_logs);
    for (size_t i = 0; i < count; i++)
        tpe->good_logs[i] -= tpe->bad_logs[i];
}

/* The best of the candidates that may be tried into ask->point. */
static bool take_best(struct tpe *tpe, struct ask *ask, double *acquisition)
{
    size_t count = (size_t)tuning.candidates;

    for (size_t tries = 0; tries < count; tries++) {
        size_t best = 0;

        for (size_t i = 1; i < count; i++)
            if (tpe->good_logs[i] > tpe->good_logs[best])
                best = i;
        decode(tpe, ask, tpe->points + best * tpe->axes.count);
        *acquisition = (double)tpe->good_logs[best];
        if (ask_accepts(ask, ask->point))
            return true;
        tpe->good_logs[best] = -INFINITY;
    }
    return false;
}

static void give_reason(const struct tpe *tpe, struct ask *ask,
                        double acquisition)
{
    const struct standings *standings = &tpe->standings;
    struct reason *reason = ask->reason;
    size_t behind = ask->history->behind_count, length;

    reason->step = "tpe";
    reason->acquisition = acquisition;
    if (standings->count > 0)
        reason->incumbent = ask->history->numbers[standings->order[0]];
    snprintf(reason->note, sizeof(reason->note),
             "log l - log g; l has the %zu best of %zu results, g the others, "
             "%zu failed and %zu pending",
             count_good(standings), standings->count, standings->lost_count,
             ask->history->pending_count);
    length = strlen(reason->note);
    if (behind > 0)
        snprintf(reason->note + length, sizeof(reason->note) - length,
                 ", and %zu with less resource", behind);
}

/* With many at once, those that are pending make no more start than it takes.
 */
static bool is_starting(const struct tpe *tpe, const struct history *history)
{
    size_t results = tpe->standings.count + tpe->earlier.count;

    return tpe->axes.count == 0 || results < (size_t)tuning.results ||
           results + history->pending_count < (size_t)tuning.startup;
}

static enum ask_result tpe_next(void *state, struct ask *ask, struct err *err)
{
    enum { ROUNDS = 8 };
    struct tpe *tpe = state;
    const struct history *history = ask->history;
    double acquisition;
    struct rng rng;

    standings_update(&tpe->standings, history);
    if (history->transfer != NULL)
        standings_update(&tpe->earlier, history->transfer);
    if (is_starting(tpe, history))
        return startup_next(tpe->startup, ask, err);
    split_trials(tpe, history);
    if (history->transfer != NULL)
        add_earlier(tpe, history->transfer);
    make_density(tpe, tpe->good, &tpe->good_sample, tuning.good_width);
    make_density(tpe, tpe->bad, &tpe->bad_sample, tuning.bad_width);
    rng_init(&rng, tpe->seed, ask->trial, STREAM_TPE);
    for (int round = 0; round < ROUNDS; round++) {
        draw_candidates(tpe, ask, &rng);
        if (!take_best(tpe, ask, &acquisition))
            continue;
        give_reason(tpe, ask, acquisition);
        return ASK_OK;
    }
    return ASK_EXHAUSTED;
}

const struct strategy_method strategy_method_tpe = {
    .name = "tpe",
    .learns = true,
    .create = tpe_create,
    .destroy = tpe_destroy,
    .next = tpe_next,
};
