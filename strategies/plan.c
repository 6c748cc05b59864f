/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/hypervolume.h"

/* With one objective: when the last so many results, and as many more as are
 * pending, have lowered the best by less than this share of the median's
 * distance, the model is doubted. */
enum { STALL_RESULTS = 5 };

static const double stall_share = 0.03;
static const double doubt = 0.5; /* length scales are shorter by that */

static double normal(struct rng *rng)
{
    double radius = sqrt(-2 * log1p(-rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

/* Trials without a value, which get a row each: those that fell behind, then
 * those that are pending; the newest of more than there is room for. */
struct guests {
    size_t trials[SURROGATES_PENDING_MAX];
    size_t count, behind; /* the first of them */
};

static void find_guests(const struct history *history, struct guests *guests)
{
    size_t pending = history->pending_count, room, at;

    if (pending > SURROGATES_PENDING_MAX)
        pending = SURROGATES_PENDING_MAX;
    room = SURROGATES_PENDING_MAX - pending;
    guests->behind =
        history->behind_count < room ? history->behind_count : room;
    guests->count = guests->behind + pending;
    at = guests->behind;
    for (size_t i = history->count; at > 0; i--) {
        if (history->states[i - 1] == HISTORY_BEHIND)
            guests->trials[--at] = i - 1;
    }
    memcpy(guests->trials + guests->behind,
           history->pending + history->pending_count - pending,
           pending * sizeof(*guests->trials));
}

static void append_guests(struct surrogates *surrogates, struct gp *gp,
                          const struct history *history,
                          const struct guests *guests)
{
    for (size_t i = 0; i < guests->count; i++) {
        domain_encode(surrogates->domain,
                      history_unit(history, guests->trials[i]),
                      surrogates->columns);
        gp_append(gp, surrogates->columns);
    }
}

/* Fantasies in pairs of opposite draws, each pending trial with its own. One
 * that fell behind is no better than expected: its draws are from the upper
 * half. */
static void draw_fantasies(struct plan *plan, const struct history *history,
                           uint64_t seed, const struct guests *guests,
                           size_t rows)
{
    for (size_t i = 0; i < guests->count; i++) {
        double *weights = plan->weights + rows - guests->count + i;
        struct rng rng;

        rng_init(&rng, seed, history->numbers[guests->trials[i]],
                 STREAM_BAYESIAN + 1);
        for (size_t f = 0; f < PLAN_FANTASIES; f += 2) {
            double draw = normal(&rng);

            weights[f * rows] = i < guests->behind ? fabs(draw) : draw;
            weights[(f + 1) * rows] = i < guests->behind ? fabs(draw) : -draw;
        }
    }
}

static bool is_feasible(const struct surrogates *surrogates,
                        const struct history *history, size_t result)
{
    return history_violation(history, surrogates->trials[result]) <= 0;
}

/* The least of what is known to be feasible, by the process's means. */
static double find_target(const struct surrogates *surrogates,
                          const struct history *history, const double *means,
                          const struct guests *guests)
{
    const struct model *model = surrogates->objectives[0];
    size_t valued = model_row_count(model);
    double least = (double)INFINITY;

    for (size_t i = 0; i < valued + guests->count; i++) {
        bool counts =
            history->outcome_count == 0 && i >= valued + guests->behind;

        if (i < valued) {
            size_t result = model_result_of(model, i);

            counts =
                result != SIZE_MAX && is_feasible(surrogates, history, result);
        }
        if (counts)
            least = fmin(least, means[i]);
    }
    return least;
}

/* Where the last results have got nowhere, every other trial doubts the model:
 * what looks known may do so by length scales that are too long. */
static struct gp *choose_gp(struct model *model, const struct ask *ask)
{
    size_t last = STALL_RESULTS + ask->history->pending_count;
    struct gp *doubting = NULL;

    if (ask->trial % 2 == 0 && model_progress(model, last) < stall_share)
        doubting = model_doubting_gp(model, doubt);
    return doubting != NULL ? doubting : model_gp(model);
}

static void plan_objective(struct plan *plan, struct surrogates *surrogates,
                           const struct ask *ask, uint64_t seed)
{
    const struct history *history = ask->history;
    struct model *model = surrogates->objectives[0];
    size_t rows, valued, fantasies;
    struct guests guests;
    double *means;
    struct gp *gp;

    model_update(model);
    gp = choose_gp(model, ask);
    valued = gp_count(gp);
    find_guests(history, &guests);
    append_guests(surrogates, gp, history, &guests);
    rows = gp_count(gp);
    fantasies = rows > valued ? PLAN_FANTASIES : 1;
    plan->weights = mem_array(fantasies * rows, sizeof(*plan->weights));
    for (size_t f = 0; f < fantasies; f++)
        memcpy(plan->weights + f * rows, gp_weights(gp),
               valued * sizeof(*plan->weights));
    if (rows > valued)
        draw_fantasies(plan, history, seed, &guests, rows);
    means = mem_array(fantasies * rows, sizeof(*means));
    gp_means_at_rows(gp, plan->weights, fantasies, means);
    for (size_t f = 0; f < fantasies; f++)
        plan->targets[f] =
            find_target(surrogates, history, means + f * rows, &guests);
    free(means);
    plan->acquisition.fantasy_count = fantasies;
    plan->acquisition.weights = plan->weights;
    plan->acquisition.targets = plan->targets;
    if (isfinite(plan->targets[0]))
        plan->acquisition.objective = gp;
    plan->step = gp == model_gp(model) ? "log EI" : "log EI, doubting";
}

/* A direction that is positive, even on the sphere. */
static void draw_shares(const struct ask *ask, uint64_t seed, size_t count,
                        double *shares)
{
    struct rng rng;
    double sum = 0;

    rng_init(&rng, seed, ask->trial, STREAM_BAYESIAN + 2);
    for (size_t j = 0; j < count; j++) {
        shares[j] = fmax(fabs(normal(&rng)), 1e-3);
        sum += shares[j] * shares[j];
    }
    for (size_t j = 0; j < count; j++)
        shares[j] /= sqrt(sum);
}

/* All results as the processes see them: [results][objectives]. */
static double *copy_warped(const struct surrogates *surrogates,
                           const struct history *history)
{
    size_t count = surrogates->objective_count;
    size_t results = surrogates_count(surrogates);
    double *cells = mem_array(results * count, sizeof(*cells));

    for (size_t i = 0; i < results; i++) {
        const double *values = history_values(history, surrogates->trials[i]);

        for (size_t j = 0; j < count; j++)
            cells[i * count + j] =
                warp_apply(model_warp(surrogates->objectives[j]), values[j]);
    }
    return cells;
}

static double find_worth(const struct plan *plan, size_t count,
                         const double *values)
{
    double least = (double)INFINITY;

    for (size_t j = 0; j < count; j++)
        least = fmin(least,
                     (plan->goals[j].bound - values[j]) / plan->goals[j].share);
    return least;
}

/* Inserts a trial into the anchors by its worth, the best first. */
static void add_anchor(struct plan *plan, double *worths, double worth,
                       const double *unit)
{
    size_t at = plan->anchor_count;

    while (at > 0 && worth > worths[at - 1])
        at--;
    if (at == PLAN_ANCHORS)
        return;
    if (plan->anchor_count < PLAN_ANCHORS)
        plan->anchor_count++;
    memmove(&worths[at + 1], &worths[at],
            (plan->anchor_count - 1 - at) * sizeof(*worths));
    memmove(&plan->anchors[at + 1], &plan->anchors[at],
            (plan->anchor_count - 1 - at) * sizeof(*plan->anchors));
    worths[at] = worth;
    plan->anchors[at] = unit;
}

/* Sets the bounds: the reference point first, then what is best by it. */
static void plan_goals(struct plan *plan, struct surrogates *surrogates,
                       const struct ask *ask, uint64_t seed)
{
    size_t count = surrogates->objective_count;
    double shares[ACQUISITION_GOALS_MAX], reference[ACQUISITION_GOALS_MAX];
    double worths[PLAN_ANCHORS] = {0}, *cells;
    struct guests guests;

    find_guests(ask->history, &guests);
    draw_shares(ask, seed, count, shares);
    for (size_t j = 0; j < count; j++)
        model_update(surrogates->objectives[j]);
    cells = copy_warped(surrogates, ask->history);
    hypervolume_reference(cells, surrogates_count(surrogates), count,
                          reference);
    for (size_t j = 0; j < count; j++) {
        plan->goals[j] =
            (struct acquisition_goal){.gp = model_gp(surrogates->objectives[j]),
                                      .bound = reference[j],
                                      .share = shares[j]};
        append_guests(surrogates, model_gp(surrogates->objectives[j]),
                      ask->history, &guests);
    }
    for (size_t i = 0; i < surrogates_count(surrogates); i++)
        if (is_feasible(surrogates, ask->history, i))
            add_anchor(plan, worths, find_worth(plan, count, cells + i * count),
                       history_unit(ask->history, surrogates->trials[i]));
    free(cells);
    if (plan->anchor_count == 0)
        return;
    for (size_t j = 0; j < count; j++)
        plan->goals[j].bound -= worths[0] * shares[j];
    plan->acquisition.goals = plan->goals;
    plan->acquisition.goal_count = count;
    plan->step = "log EI of a random hypervolume scalarization";
}

static void plan_limits(struct plan *plan, struct surrogates *surrogates)
{
    size_t count = 0;

    plan->limits =
        mem_array(surrogates->outcome_count + 1, sizeof(*plan->limits));
    if (surrogates->failures > 0) {
        model_update(surrogates->success);
        plan->limits[count++].gp = model_gp(surrogates->success);
    }
    for (size_t i = 0; i < surrogates->outcome_count; i++) {
        if (model_count(surrogates->outcomes[i]) == 0)
            continue;
        model_update(surrogates->outcomes[i]);
        plan->limits[count++].gp = model_gp(surrogates->outcomes[i]);
    }
    plan->acquisition.limits = plan->limits;
    plan->acquisition.limit_count = count;
}

/* The best few trials, by history_better(). */
static void plan_anchors(struct plan *plan, const struct surrogates *surrogates,
                         const struct history *history)
{
    size_t best[PLAN_ANCHORS], count = 0;

    for (size_t i = 0; i < surrogates_count(surrogates); i++) {
        size_t index = surrogates->trials[i], at = count;

        while (at > 0 && history_better(history, index, best[at - 1]))
            at--;
        if (at == PLAN_ANCHORS)
            continue;
        if (count < PLAN_ANCHORS)
            count++;
        memmove(&best[at + 1], &best[at], (count - 1 - at) * sizeof(*best));
        best[at] = index;
    }
    for (size_t i = 0; i < count; i++)
        plan->anchors[i] = history_unit(history, best[i]);
    plan->anchor_count = count;
    plan->best = count > 0 ? best[0] : SIZE_MAX;
}

bool plan_init(struct plan *plan, struct surrogates *surrogates,
               const struct ask *ask, uint64_t seed)
{
    const struct model *scale = surrogates->success;

    *plan = (struct plan){.acquisition = {.linalg = surrogates->linalg},
                          .step = "log probability of success",
                          .best = SIZE_MAX};
    plan_limits(plan, surrogates);
    if (surrogates_count(surrogates) > 0) {
        scale = surrogates->objectives[0];
        if (surrogates->objective_count > 1)
            plan_goals(plan, surrogates, ask, seed);
        else
            plan_objective(plan, surrogates, ask, seed);
    }
    if (plan->acquisition.goal_count == 0)
        plan_anchors(plan, surrogates, ask->history);
    plan->log_lengths = model_hyper(scale)->log_lengths;
    return plan->acquisition.objective != NULL ||
           plan->acquisition.goal_count > 0 ||
           plan->acquisition.limit_count > 0;
}

void plan_clear(struct plan *plan)
{
    free(plan->limits);
    free(plan->weights);
}
