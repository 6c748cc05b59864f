/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/gp/plan_impl.h"
#include "strategies/history/hypervolume.h"
#include "strategies/history/pareto.h"

/*
 * Several objectives: each has its process, and a front is what is best by
 * their means, the fantasies' results of pending trials among it. It is of
 * those trials that did well, since noise decides only among these.
 */

enum { CONTENDERS_MAX = 200 };

/* A direction that is positive, even on the sphere. */
static void draw_shares(const struct ask *ask, uint64_t seed, size_t count,
                        double *shares)
{
    struct rng rng;
    double sum = 0;

    rng_init(&rng, seed, ask->trial, STREAM_BAYESIAN + 2);
    for (size_t j = 0; j < count; j++) {
        shares[j] = fmax(fabs(plan_normal(&rng)), 1e-3);
        sum += shares[j] * shares[j];
    }
    for (size_t j = 0; j < count; j++)
        shares[j] /= sqrt(sum);
}

/* Results that satisfy the constraints, as the processes see them. */
struct known {
    size_t *results; /* [count] */
    double *values;  /* [count][objectives] */
    size_t count;
};

static void find_known(const struct surrogates *surrogates,
                       const struct history *history, struct known *known)
{
    size_t m = surrogates->objective_count;
    size_t results = surrogates_count(surrogates);

    known->results = mem_array(results, sizeof(*known->results));
    known->values = mem_array(results * m, sizeof(*known->values));
    known->count = 0;
    for (size_t i = 0; i < results; i++) {
        const double *values = history_values(history, surrogates->trials[i]);

        if (!plan_is_feasible(surrogates, history, i))
            continue;
        for (size_t j = 0; j < m; j++)
            known->values[known->count * m + j] =
                warp_apply(model_warp(surrogates->objectives[j]), values[j]);
        known->results[known->count++] = i;
    }
}

static void forget_known(struct known *known)
{
    free(known->results);
    free(known->values);
}

static double find_worth(const struct plan *plan, size_t count,
                         const double *values)
{
    double least = (double)INFINITY;

    for (size_t j = 0; j < count; j++)
        least = fmin(least, (plan->goals[j].reference - values[j]) /
                                plan->goals[j].share);
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

static void find_anchors(struct plan *plan, const struct surrogates *surrogates,
                         const struct history *history,
                         const struct known *known)
{
    size_t m = surrogates->objective_count;
    double worths[PLAN_ANCHORS] = {0};

    for (size_t i = 0; i < known->count; i++)
        add_anchor(
            plan, worths, find_worth(plan, m, known->values + i * m),
            history_unit(history, surrogates->trials[known->results[i]]));
}

/* Trials that may be on a front: the least dominated results, and what is
 * pending if that has no constraints to break. Their columns, the caller's. */
static double *find_contenders(struct surrogates *surrogates,
                               const struct guests *guests,
                               const struct known *known, size_t *count)
{
    const struct history *history = guests->history;
    size_t width = domain_shape(surrogates->domain)->column_count;
    size_t pending = guests->count - guests->behind;
    size_t *ranks = mem_array(known->count, sizeof(*ranks));
    double *columns =
        mem_array((CONTENDERS_MAX + pending) * width + 1, sizeof(*columns));
    size_t rank_count = pareto_sort(known->values, NULL, known->count,
                                    surrogates->objective_count, ranks);

    *count = 0;
    for (size_t rank = 0; rank < rank_count; rank++)
        for (size_t i = 0; i < known->count && *count < CONTENDERS_MAX; i++)
            if (ranks[i] == rank)
                domain_encode(
                    surrogates->domain,
                    history_unit(history,
                                 surrogates->trials[known->results[i]]),
                    columns + (*count)++ * width);
    for (size_t i = 0; i < pending && history->outcome_count == 0; i++)
        domain_encode(surrogates->domain,
                      history_unit(history, guests->trials[guests->behind + i]),
                      columns + (*count)++ * width);
    free(ranks);
    return columns;
}

/* The processes' means in each fantasy: [fantasies][count][objectives]. */
static double *find_means(const struct plan *plan, size_t m,
                          const double *columns, size_t count)
{
    size_t fantasies = plan->acquisition.fantasy_count;
    double *fronts = mem_array(fantasies * count * m, sizeof(*fronts));
    double *means = mem_array(fantasies * count, sizeof(*means));
    struct gp_query query = {0};

    for (size_t j = 0; j < m; j++) {
        const struct acquisition_goal *goal = &plan->goals[j];

        gp_predict(goal->gp, columns, count, &query);
        linalg_multiply(plan->acquisition.linalg, query.solved, count,
                        query.rows, goal->weights, fantasies, means);
        for (size_t i = 0; i < count; i++)
            for (size_t f = 0; f < fantasies; f++)
                fronts[(f * count + i) * m + j] =
                    gp_mean(goal->gp) + means[i * fantasies + f];
    }
    gp_query_clear(&query);
    free(means);
    return fronts;
}

/* What is to be improved on in each fantasy. */
static void set_targets(struct plan *plan, size_t m, const double *fronts,
                        size_t count)
{
    double reference[ACQUISITION_GOALS_MAX];

    for (size_t j = 0; j < m; j++)
        reference[j] = plan->goals[j].reference;
    for (size_t f = 0; f < plan->acquisition.fantasy_count; f++) {
        const double *front = fronts + f * count * m;

        if (m <= BOXES_OBJECTIVES_MAX) {
            boxes_split(&plan->regions[f], front, count, m, reference);
            continue;
        }
        plan->targets[f] = find_worth(plan, m, front);
        for (size_t i = 1; i < count; i++)
            plan->targets[f] =
                fmax(plan->targets[f], find_worth(plan, m, front + i * m));
    }
    if (m <= BOXES_OBJECTIVES_MAX)
        plan->acquisition.regions = plan->regions;
    else
        plan->acquisition.targets = plan->targets;
}

void plan_goals(struct plan *plan, struct surrogates *surrogates,
                const struct ask *ask, uint64_t seed)
{
    size_t m = surrogates->objective_count, count;
    double shares[ACQUISITION_GOALS_MAX], reference[ACQUISITION_GOALS_MAX];
    double *columns, *fronts;
    struct guests guests;
    struct known known;

    plan_find_guests(&guests, ask->history, seed);
    draw_shares(ask, seed, m, shares);
    for (size_t j = 0; j < m; j++)
        model_update(surrogates->objectives[j]);
    find_known(surrogates, ask->history, &known);
    if (known.count == 0) {
        forget_known(&known);
        return;
    }
    hypervolume_wide_reference(known.values, known.count, m, reference);
    for (size_t j = 0; j < m; j++) {
        struct gp *gp = model_gp(surrogates->objectives[j]);

        plan_append_guests(&guests, surrogates, gp);
        plan->acquisition.fantasy_count =
            plan_fantasies(&guests, gp, STREAM_GOALS + j, &plan->weights[j]);
        plan->goals[j] = (struct acquisition_goal){.gp = gp,
                                                   .weights = plan->weights[j],
                                                   .reference = reference[j],
                                                   .share = shares[j]};
    }
    find_anchors(plan, surrogates, ask->history, &known);
    columns = find_contenders(surrogates, &guests, &known, &count);
    fronts = find_means(plan, m, columns, count);
    set_targets(plan, m, fronts, count);
    plan->acquisition.goals = plan->goals;
    plan->acquisition.goal_count = m;
    plan->step = m <= BOXES_OBJECTIVES_MAX
                     ? "log expected hypervolume improvement"
                     : "log EI of a random hypervolume scalarization";
    forget_known(&known);
    free(columns);
    free(fronts);
}
