/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/gp/maximise.h"
#include "strategies/gp/proposal.h"
#include "strategies/gp/surrogates.h"
#include "strategies/history/standings.h"
#include "strategies/methods/startup.h"
#include "strategies/strategy_impl.h"

/*
 * Bayesian optimisation (R. Garnett, "Bayesian Optimization", 2023): Gaussian
 * processes of what trials tell (surrogates.h), an acquisition on them (plan.h,
 * acquisition.h), and the point where it is largest (maximise.h).
 */

enum {
    STARTUP = 4,       /* points of the sequence, fewer in a small budget */
    STARTUP_MIN = 3,   /* but no fewer than these */
    EARLIER_FIRST = 2, /* of the best trials of earlier runs come first */
    EARLIER_TRIES = 20,
    DIMENSIONS_MANY = 20,
    RESULTS_MANY = 1000
};

struct bayesian {
    uint64_t seed, budget_trials;
    struct startup *startup;
    struct surrogates *surrogates;
    double *columns;             /* of the suggestion */
    double *low, *high, *centre; /* [axes]: where to look */
};

static void bayesian_destroy(void *state)
{
    struct bayesian *bayesian = state;

    if (bayesian == NULL)
        return;
    startup_destroy(bayesian->startup);
    surrogates_destroy(bayesian->surrogates);
    free(bayesian->columns);
    free(bayesian->low);
    free(bayesian->high);
    free(bayesian->centre);
    free(bayesian);
}

static void *bayesian_create(const struct strategy_options *options,
                             struct space *space, struct err *err)
{
    struct bayesian *bayesian;

    if (options->objective_count > ACQUISITION_GOALS_MAX) {
        err_set(err, ERR_FILE,
                "bayesian search supports at most %d objectives, not %zu",
                ACQUISITION_GOALS_MAX, options->objective_count);
        return NULL;
    }
    bayesian = mem_zero(sizeof(*bayesian));
    bayesian->seed = options->seed;
    bayesian->budget_trials = options->budget_trials;
    bayesian->startup = startup_create(options, space, err);
    if (bayesian->startup != NULL)
        return bayesian;
    bayesian_destroy(bayesian);
    return NULL;
}

/* Once the history says whether there are trials of earlier runs. */
static int begin(struct bayesian *bayesian, const struct history *history,
                 struct err *err)
{
    size_t axes, columns;

    bayesian->surrogates = surrogates_create(history, err);
    if (bayesian->surrogates == NULL)
        return -1;
    axes = domain_count(bayesian->surrogates->domain);
    columns = domain_shape(bayesian->surrogates->domain)->column_count;
    bayesian->columns = mem_array(columns + 1, sizeof(*bayesian->columns));
    bayesian->low = mem_array(axes + 1, sizeof(*bayesian->low));
    bayesian->high = mem_array(axes + 1, sizeof(*bayesian->high));
    bayesian->centre = mem_array(axes + 1, sizeof(*bayesian->centre));
    return 0;
}

/* The next of the earlier runs' best trials, to begin with: false when none of
 * them can be tried. */
static bool try_earlier(const struct history *transfer, struct ask *ask)
{
    size_t count = ask->history->dimension;
    double *unit = mem_array(count, sizeof(*unit));
    struct standings standings = {0};
    bool found = false;

    standings_update(&standings, transfer);
    for (size_t i = 0; i < standings.count && i < EARLIER_TRIES && !found;
         i++) {
        const double *from = history_unit(transfer, standings.order[i]);

        for (size_t k = 0; k < count; k++)
            unit[k] = isnan(from[k]) ? 0.5 : from[k];
        space_decode(ask->space, unit, ask->point);
        found = ask_accepts(ask, ask->point);
    }
    standings_clear(&standings);
    free(unit);
    if (found)
        ask->reason->step = "one of the best settings of earlier runs";
    return found;
}

/* More at once than the sequence has points: some results will do. */
static bool is_starting(const struct bayesian *bayesian,
                        const struct history *history)
{
    uint64_t wanted = STARTUP;

    if (bayesian->budget_trials > 0 && bayesian->budget_trials / 5 < wanted)
        wanted = bayesian->budget_trials / 5;
    if (wanted < STARTUP_MIN)
        wanted = STARTUP_MIN;
    return domain_count(bayesian->surrogates->domain) == 0 ||
           history->count < wanted ||
           surrogates_tried(bayesian->surrogates) < STARTUP_MIN;
}

/* What the first objective's process says about the point, in its unit. */
static void explain(const struct bayesian *bayesian,
                    const struct proposal *proposal, const struct ask *ask)
{
    const struct gp *gp = proposal->acquisition.objective;
    struct model *model = bayesian->surrogates->objectives[0];
    struct reason *reason = ask->reason;
    struct gp_query query = {0};
    double z;

    reason->step = proposal->step;
    snprintf(
        reason->note, sizeof(reason->note),
        "results: %zu, failures: %zu, pending: %zu, with less resource: %zu",
        surrogates_count(bayesian->surrogates), bayesian->surrogates->failures,
        ask->history->pending_count, ask->history->behind_count);
    if (proposal->best != SIZE_MAX)
        reason->incumbent = ask->history->numbers[proposal->best];
    if (gp == NULL)
        return;
    gp_predict(gp, bayesian->columns, 1, &query);
    z = gp_mean_at(gp, &query, 0);
    reason->mean = warp_undo(model_warp(model), z);
    reason->deviation =
        warp_slope(model_warp(model), z) * sqrt(query.variance[0]);
    gp_query_clear(&query);
}

/* Everywhere; or where there is much of everything, every other time around
 * the best. */
static const char *choose_box(struct bayesian *bayesian,
                              const struct proposal *proposal,
                              const struct ask *ask)
{
    const struct domain *domain = bayesian->surrogates->domain;
    size_t axes = domain_count(domain);

    for (size_t k = 0; k < axes; k++) {
        bayesian->low[k] = 0;
        bayesian->high[k] = 1;
    }
    if (proposal->best == SIZE_MAX || ask->trial % 2 == 0 ||
        (axes <= DIMENSIONS_MANY &&
         surrogates_count(bayesian->surrogates) <= RESULTS_MANY))
        return proposal->step;
    for (size_t k = 0; k < axes; k++)
        bayesian->centre[k] = history_unit(
            ask->history, proposal->best)[domain_axis(domain, k)->param];
    trust_region_box(&bayesian->surrogates->region, bayesian->centre,
                     proposal->log_lengths, bayesian->low, bayesian->high);
    return "log EI in a trust region";
}

static enum ask_result suggest(struct bayesian *bayesian, struct ask *ask)
{
    struct maximise maximise = {
        .domain = bayesian->surrogates->domain,
        .low = bayesian->low,
        .high = bayesian->high,
    };
    bool found = false;
    struct proposal proposal;

    if (proposal_init(&proposal, bayesian->surrogates, ask, bayesian->seed)) {
        proposal.step = choose_box(bayesian, &proposal, ask);
        maximise.acquisition = &proposal.acquisition;
        maximise.log_lengths = proposal.log_lengths;
        maximise.anchors = proposal.anchors;
        maximise.anchor_count = proposal.anchor_count;
        rng_init(&maximise.rng, bayesian->seed, ask->trial, STREAM_BAYESIAN);
        found = maximise_run(&maximise, ask, bayesian->columns,
                             &ask->reason->acquisition);
    }
    if (found)
        explain(bayesian, &proposal, ask);
    proposal_clear(&proposal);
    return found ? ASK_OK : ASK_EXHAUSTED;
}

static enum ask_result bayesian_next(void *state, struct ask *ask,
                                     struct err *err)
{
    struct bayesian *bayesian = state;

    if (bayesian->surrogates == NULL && begin(bayesian, ask->history, err) < 0)
        return ASK_ERROR;
    surrogates_read(bayesian->surrogates, ask->history);
    if (ask->history->transfer != NULL && ask->history->count < EARLIER_FIRST &&
        try_earlier(ask->history->transfer, ask))
        return ASK_OK;
    if (is_starting(bayesian, ask->history))
        return startup_next(bayesian->startup, ask, err);
    return suggest(bayesian, ask);
}

const struct strategy_method strategy_method_bayesian = {
    .name = "bayesian",
    .learns = true,
    .create = bayesian_create,
    .destroy = bayesian_destroy,
    .next = bayesian_next,
};
