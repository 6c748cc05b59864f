/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/gp/proposal_impl.h"
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
        shares[j] = fmax(fabs(proposal_normal(&rng)), 1e-3);
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

        if (!proposal_is_feasible(surrogates, history, i))
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

static double find_worth(const struct proposal *proposal, size_t count,
                         const double *values)
{
    double least = (double)INFINITY;

    for (size_t j = 0; j < count; j++)
        least = fmin(least, (proposal->goals[j].reference - values[j]) /
                                proposal->goals[j].share);
    return least;
}

/* Inserts a trial into the anchors by its worth, the best first. */
static void add_anchor(struct proposal *proposal, double *worths, double worth,
                       const double *unit)
{
    size_t at = proposal->anchor_count;

    while (at > 0 && worth > worths[at - 1])
        at--;
    if (at == PROPOSAL_ANCHORS)
        return;
    if (proposal->anchor_count < PROPOSAL_ANCHORS)
        proposal->anchor_count++;
    memmove(&worths[at + 1], &worths[at],
            (proposal->anchor_count - 1 - at) * sizeof(*worths));
    memmove(&proposal->anchors[at + 1], &proposal->anchors[at],
            (proposal->anchor_count - 1 - at) * sizeof(*proposal->anchors));
    worths[at] = worth;
    proposal->anchors[at] = unit;
}

static void find_anchors(struct proposal *proposal,
                         const struct surrogates *surrogates,
                         const struct history *history,
                         const struct known *known)
{
    size_t m = surrogates->objective_count;
    double worths[PROPOSAL_ANCHORS] = {0};

    for (size_t i = 0; i < known->count; i++)
        add_anchor(
            proposal, worths, find_worth(proposal, m, known->values + i * m),
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
static double *find_means(const struct proposal *proposal, size_t m,
                          const double *columns, size_t count)
{
    size_t fantasies = proposal->acquisition.fantasy_count;
    double *fronts = mem_array(fantasies * count * m, sizeof(*fronts));
    double *means = mem_array(fantasies * count, sizeof(*means));
    struct gp_query query = {0};

    for (size_t j = 0; j < m; j++) {
        const struct acquisition_goal *goal = &proposal->goals[j];

        gp_predict(goal->gp, columns, count, &query);
        linalg_multiply(proposal->acquisition.linalg, query.solved, count,
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
static void set_targets(struct proposal *proposal, size_t m,
                        const double *fronts, size_t count)
{
    double reference[ACQUISITION_GOALS_MAX];

    for (size_t j = 0; j < m; j++)
        reference[j] = proposal->goals[j].reference;
    for (size_t f = 0; f < proposal->acquisition.fantasy_count; f++) {
        const double *front = fronts + f * count * m;

        if (m <= BOXES_OBJECTIVES_MAX) {
            boxes_split(&proposal->regions[f], front, count, m, reference);
            continue;
        }
        proposal->targets[f] = find_worth(proposal, m, front);
        for (size_t i = 1; i < count; i++)
            proposal->targets[f] = fmax(proposal->targets[f],
                                        find_worth(proposal, m, front + i * m));
    }
    if (m <= BOXES_OBJECTIVES_MAX)
        proposal->acquisition.regions = proposal->regions;
    else
        proposal->acquisition.targets = proposal->targets;
}

void proposal_goals(struct proposal *proposal, struct surrogates *surrogates,
                    const struct ask *ask, uint64_t seed)
{
    size_t m = surrogates->objective_count, count;
    double shares[ACQUISITION_GOALS_MAX], reference[ACQUISITION_GOALS_MAX];
    double *columns, *fronts;
    struct guests guests;
    struct known known;

    proposal_find_guests(&guests, ask->history, seed);
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

        proposal_append_guests(&guests, surrogates, gp);
        proposal->acquisition.fantasy_count = proposal_fantasies(
            &guests, gp, STREAM_GOALS + j, &proposal->weights[j]);
        proposal->goals[j] =
            (struct acquisition_goal){.gp = gp,
                                      .weights = proposal->weights[j],
                                      .reference = reference[j],
                                      .share = shares[j]};
    }
    find_anchors(proposal, surrogates, ask->history, &known);
    columns = find_contenders(surrogates, &guests, &known, &count);
    fronts = find_means(proposal, m, columns, count);
    set_targets(proposal, m, fronts, count);
    proposal->acquisition.goals = proposal->goals;
    proposal->acquisition.goal_count = m;
    proposal->step = m <= BOXES_OBJECTIVES_MAX
                         ? "log expected hypervolume improvement"
                         : "log EI of a random hypervolume scalarization";
    forget_known(&known);
    free(columns);
    free(fronts);
}
