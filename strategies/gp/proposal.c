/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/proposal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/gp/proposal_impl.h"

/* With one objective: when the last so many results, and as many more as are
 * pending, have lowered the best by less than this share of the median's
 * distance, the model is doubted. */
enum { STALL_RESULTS = 5 };

static const double stall_share = 0.03;
static const double doubt = 0.5; /* length scales are shorter by that */

double proposal_normal(struct rng *rng)
{
    double radius = sqrt(-2 * log1p(-rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

void proposal_find_guests(struct guests *guests, const struct history *history,
                          uint64_t seed)
{
    size_t pending = history->pending_count, room, at;

    guests->history = history;
    guests->seed = seed;
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

void proposal_append_guests(const struct guests *guests,
                            struct surrogates *surrogates, struct gp *gp)
{
    for (size_t i = 0; i < guests->count; i++) {
        domain_encode(surrogates->domain,
                      history_unit(guests->history, guests->trials[i]),
                      surrogates->columns);
        gp_append(gp, surrogates->columns);
    }
}

/* Fantasies in pairs of opposite draws, each pending trial and objective with
 * its own. One that fell behind is no better than expected: its draws are from
 * the upper half. */
static void draw_guest(const struct guests *guests, size_t guest,
                       struct rng *rng, size_t rows, double *weights)
{
    for (size_t f = 0; f < PROPOSAL_FANTASIES; f += 2) {
        double draw = proposal_normal(rng);
        bool is_behind = guest < guests->behind;

        weights[f * rows] = is_behind ? fabs(draw) : draw;
        weights[(f + 1) * rows] = is_behind ? fabs(draw) : -draw;
    }
}

size_t proposal_fantasies(const struct guests *guests, const struct gp *gp,
                          uint64_t stream, double **weights)
{
    size_t rows = gp_count(gp), valued = rows - guests->count;
    size_t count = guests->count > 0 ? PROPOSAL_FANTASIES : 1;

    *weights = mem_array(count * rows, sizeof(**weights));
    for (size_t f = 0; f < count; f++)
        memcpy(*weights + f * rows, gp_weights(gp), valued * sizeof(**weights));
    for (size_t i = 0; i < guests->count; i++) {
        struct rng rng;

        rng_init(&rng, guests->seed,
                 guests->history->numbers[guests->trials[i]], stream);
        draw_guest(guests, i, &rng, rows, *weights + valued + i);
    }
    return count;
}

bool proposal_is_feasible(const struct surrogates *surrogates,
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

            counts = result != SIZE_MAX &&
                     proposal_is_feasible(surrogates, history, result);
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

static void plan_objective(struct proposal *proposal,
                           struct surrogates *surrogates, const struct ask *ask,
                           uint64_t seed)
{
    const struct history *history = ask->history;
    struct model *model = surrogates->objectives[0];
    size_t rows, fantasies;
    struct guests guests;
    double *means;
    struct gp *gp;

    model_update(model);
    gp = choose_gp(model, ask);
    proposal_find_guests(&guests, history, seed);
    proposal_append_guests(&guests, surrogates, gp);
    rows = gp_count(gp);
    fantasies = proposal_fantasies(&guests, gp, STREAM_BAYESIAN + 1,
                                   &proposal->weights[0]);
    means = mem_array(fantasies * rows, sizeof(*means));
    gp_means_at_rows(gp, proposal->weights[0], fantasies, means);
    for (size_t f = 0; f < fantasies; f++)
        proposal->targets[f] =
            find_target(surrogates, history, means + f * rows, &guests);
    free(means);
    proposal->acquisition.fantasy_count = fantasies;
    proposal->acquisition.weights = proposal->weights[0];
    proposal->acquisition.targets = proposal->targets;
    if (isfinite(proposal->targets[0]))
        proposal->acquisition.objective = gp;
    proposal->step =
        gp == model_gp(model) ? "log EI" : "log EI, shorter length scales";
}

static void plan_limits(struct proposal *proposal,
                        struct surrogates *surrogates)
{
    size_t count = 0;

    proposal->limits =
        mem_array(surrogates->outcome_count + 1, sizeof(*proposal->limits));
    if (surrogates->failures > 0) {
        model_update(surrogates->success);
        proposal->limits[count++].gp = model_gp(surrogates->success);
    }
    for (size_t i = 0; i < surrogates->outcome_count; i++) {
        if (model_count(surrogates->outcomes[i]) == 0)
            continue;
        model_update(surrogates->outcomes[i]);
        proposal->limits[count++].gp = model_gp(surrogates->outcomes[i]);
    }
    proposal->acquisition.limits = proposal->limits;
    proposal->acquisition.limit_count = count;
}

/* The best few trials, by history_better(). */
static void plan_anchors(struct proposal *proposal,
                         const struct surrogates *surrogates,
                         const struct history *history)
{
    size_t best[PROPOSAL_ANCHORS], count = 0;

    for (size_t i = 0; i < surrogates_count(surrogates); i++) {
        size_t index = surrogates->trials[i], at = count;

        while (at > 0 && history_better(history, index, best[at - 1]))
            at--;
        if (at == PROPOSAL_ANCHORS)
            continue;
        if (count < PROPOSAL_ANCHORS)
            count++;
        memmove(&best[at + 1], &best[at], (count - 1 - at) * sizeof(*best));
        best[at] = index;
    }
    for (size_t i = 0; i < count; i++)
        proposal->anchors[i] = history_unit(history, best[i]);
    proposal->anchor_count = count;
    proposal->best = count > 0 ? best[0] : SIZE_MAX;
}

bool proposal_init(struct proposal *proposal, struct surrogates *surrogates,
                   const struct ask *ask, uint64_t seed)
{
    const struct model *scale = surrogates->success;

    *proposal = (struct proposal){.acquisition = {.linalg = surrogates->linalg},
                                  .step = "log probability of success",
                                  .best = SIZE_MAX};
    plan_limits(proposal, surrogates);
    if (surrogates_count(surrogates) > 0) {
        scale = surrogates->objectives[0];
        if (surrogates->objective_count > 1)
            proposal_goals(proposal, surrogates, ask, seed);
        else
            plan_objective(proposal, surrogates, ask, seed);
    }
    if (proposal->acquisition.goal_count == 0)
        plan_anchors(proposal, surrogates, ask->history);
    proposal->log_lengths = model_hyper(scale)->log_lengths;
    return proposal->acquisition.objective != NULL ||
           proposal->acquisition.goal_count > 0 ||
           proposal->acquisition.limit_count > 0;
}

void proposal_clear(struct proposal *proposal)
{
    free(proposal->limits);
    for (size_t j = 0; j < ACQUISITION_GOALS_MAX; j++)
        free(proposal->weights[j]);
    for (size_t f = 0; f < PROPOSAL_FANTASIES; f++)
        boxes_clear(&proposal->regions[f]);
}
