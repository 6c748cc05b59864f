/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/acquisition.h"
#include "strategies/domain.h"
#include "strategies/maximise.h"
#include "strategies/model.h"
#include "strategies/startup.h"
#include "strategies/strategy_impl.h"

/*
 * Bayesian optimisation: a Gaussian process of the objective (model.h), and
 * the point with the largest expected improvement on it (acquisition.h,
 * maximise.h). Failures are results of their own: a second process of whether a
 * trial succeeds turns the search away from where they are. Each constraint on
 * an outcome has one more.
 *
 * The models read results in the order told and depend on nothing else, so
 * they can be kept between suggestions.
 */

enum {
    PENDING_MAX = 256, /* the newest ones that are taken into account */
    FANTASIES = 12,
    ANCHORS = 5,
    STARTUP_MIN = 4,
    STARTUP_MAX = 12
};

struct bayesian {
    struct strategy_options options;
    struct space *space;
    struct startup *startup;
    struct linalg *linalg;
    struct domain *domain;
    struct model *objective;
    struct model *success;   /* -1, and 1 for a failure */
    struct model **outcomes; /* [outcome_count] */
    size_t read;             /* results of the history */
    size_t failures;         /* of these */
    size_t *trials; /* [model_count(objective)]: indices in the history */
    size_t trials_capacity;
    double *columns;    /* of one trial */
    double *low, *high; /* [axes] */
};

static void bayesian_destroy(void *state)
{
    struct bayesian *bayesian = state;

    if (bayesian == NULL)
        return;
    startup_destroy(bayesian->startup);
    model_destroy(bayesian->objective);
    model_destroy(bayesian->success);
    for (size_t i = 0;
         bayesian->outcomes != NULL && i < bayesian->options.outcome_count; i++)
        model_destroy(bayesian->outcomes[i]);
    free(bayesian->outcomes);
    domain_destroy(bayesian->domain);
    linalg_close(bayesian->linalg);
    free(bayesian->trials);
    free(bayesian->columns);
    free(bayesian->low);
    free(bayesian->high);
    free(bayesian);
}

static void *bayesian_create(const struct strategy_options *options,
                             struct space *space, struct err *err)
{
    struct bayesian *bayesian = mem_zero(sizeof(*bayesian));
    size_t axes;

    bayesian->options = *options;
    bayesian->space = space;
    bayesian->domain = domain_create(space);
    bayesian->columns =
        mem_array(domain_shape(bayesian->domain)->column_count + 1,
                  sizeof(*bayesian->columns));
    axes = domain_count(bayesian->domain);
    bayesian->low = mem_array(axes + 1, sizeof(*bayesian->low));
    bayesian->high = mem_array(axes + 1, sizeof(*bayesian->high));
    for (size_t k = 0; k < axes; k++)
        bayesian->high[k] = 1;
    bayesian->outcomes =
        mem_array(options->outcome_count + 1, sizeof(*bayesian->outcomes));
    bayesian->startup = startup_create(options, space, err);
    if (bayesian->startup != NULL)
        return bayesian;
    bayesian_destroy(bayesian);
    return NULL;
}

static int make_model(struct bayesian *bayesian, enum model_kind kind,
                      struct model **model, struct err *err)
{
    *model = model_create(bayesian->linalg, domain_shape(bayesian->domain),
                          kind, kind == MODEL_OBJECTIVE ? PENDING_MAX : 0);
    if (*model == NULL)
        return err_set(err, ERR_FAILED, "no memory for a model of the trials");
    return 0;
}

static int make_models(struct bayesian *bayesian, struct err *err)
{
    if (bayesian->linalg != NULL)
        return 0;
    bayesian->linalg = linalg_open(err);
    if (bayesian->linalg == NULL ||
        make_model(bayesian, MODEL_OBJECTIVE, &bayesian->objective, err) < 0 ||
        make_model(bayesian, MODEL_OUTCOME, &bayesian->success, err) < 0)
        return -1;
    for (size_t i = 0; i < bayesian->options.outcome_count; i++)
        if (make_model(bayesian, MODEL_OUTCOME, &bayesian->outcomes[i], err) <
            0)
            return -1;
    return 0;
}

static void read_values(struct bayesian *bayesian,
                        const struct history *history, size_t index)
{
    const double *outcomes = history_outcomes(history, index);
    double value = history_values(history, index)[0];

    if (!isfinite(value))
        return;
    bayesian->trials =
        mem_grow(bayesian->trials, model_count(bayesian->objective),
                 &bayesian->trials_capacity, sizeof(*bayesian->trials));
    bayesian->trials[model_count(bayesian->objective)] = index;
    model_add(bayesian->objective, bayesian->columns, value,
              history->states[index] == HISTORY_STOPPED);
    model_add(bayesian->success, bayesian->columns, -1, false);
    for (size_t i = 0; i < history->outcome_count; i++)
        if (isfinite(outcomes[i]))
            model_add(bayesian->outcomes[i], bayesian->columns, outcomes[i],
                      false);
}

/* The results that came since the last suggestion. */
static void read_history(struct bayesian *bayesian,
                         const struct history *history)
{
    for (; bayesian->read < history->told_count; bayesian->read++) {
        size_t index = history->told[bayesian->read];

        domain_encode(bayesian->domain, history_unit(history, index),
                      bayesian->columns);
        switch ((enum history_state)history->states[index]) {
        case HISTORY_COMPLETE:
        case HISTORY_STOPPED:
            read_values(bayesian, history, index);
            break;
        case HISTORY_FAILED:
            model_add(bayesian->success, bayesian->columns, 1, false);
            bayesian->failures++;
            break;
        case HISTORY_PENDING:
        case HISTORY_CANCELLED:
            break;
        }
    }
}

static size_t startup_count(const struct bayesian *bayesian)
{
    size_t count = domain_count(bayesian->domain) + 1;
    uint64_t share = bayesian->options.budget_trials / 5;

    if (count > STARTUP_MAX)
        count = STARTUP_MAX;
    if (share > 0 && share < count)
        count = share;
    return count < STARTUP_MIN ? STARTUP_MIN : count;
}

static bool is_starting(const struct bayesian *bayesian,
                        const struct history *history)
{
    size_t wanted = startup_count(bayesian);

    return domain_count(bayesian->domain) == 0 || history->count < wanted ||
           model_count(bayesian->success) < (wanted + 1) / 2;
}

/* What a suggestion is made with. */
struct plan {
    struct acquisition acquisition;
    struct acquisition_limit *limits;
    double *weights; /* [fantasies][rows] */
    double targets[FANTASIES];
    const double *anchors[ANCHORS];
    size_t anchor_count;
    size_t best; /* a result of the objective; SIZE_MAX: none */
};

static void plan_clear(struct plan *plan)
{
    free(plan->limits);
    free(plan->weights);
}

static double normal(struct rng *rng)
{
    double radius = sqrt(-2 * log1p(-rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

/* Fantasies in pairs of opposite draws, each pending trial with its own. */
static void draw_fantasies(const struct bayesian *bayesian, struct plan *plan,
                           const struct history *history, size_t first,
                           size_t rows)
{
    size_t valued = model_row_count(bayesian->objective);

    for (size_t i = valued; i < rows; i++) {
        size_t index = history->pending[first + i - valued];
        struct rng rng;

        rng_init(&rng, bayesian->options.seed, history->numbers[index],
                 STREAM_BAYESIAN + 1);
        for (size_t f = 0; f < FANTASIES; f += 2) {
            plan->weights[f * rows + i] = normal(&rng);
            plan->weights[(f + 1) * rows + i] = -plan->weights[f * rows + i];
        }
    }
}

/* Appends the pending trials to the process; how many there are not. */
static size_t append_pending(struct bayesian *bayesian,
                             const struct history *history)
{
    size_t first = history->pending_count > PENDING_MAX
                       ? history->pending_count - PENDING_MAX
                       : 0;

    for (size_t i = first; i < history->pending_count; i++) {
        domain_encode(bayesian->domain,
                      history_unit(history, history->pending[i]),
                      bayesian->columns);
        gp_append(model_gp(bayesian->objective), bayesian->columns);
    }
    return first;
}

static bool is_feasible_row(const struct bayesian *bayesian,
                            const struct history *history, size_t row)
{
    size_t result = model_rows(bayesian->objective)[row];

    return history_violation(history, bayesian->trials[result]) <= 0;
}

/* The least of what is known to be feasible, by the process's means. */
static double find_target(const struct bayesian *bayesian,
                          const struct history *history, const double *means,
                          size_t rows)
{
    size_t valued = model_row_count(bayesian->objective);
    double least = (double)INFINITY;

    for (size_t i = 0; i < rows; i++)
        if (i < valued ? is_feasible_row(bayesian, history, i)
                       : history->outcome_count == 0)
            least = fmin(least, means[i]);
    return least;
}

static void plan_objective(struct bayesian *bayesian, struct plan *plan,
                           const struct history *history)
{
    struct gp *gp = model_gp(bayesian->objective);
    size_t first, rows, valued, fantasies;
    double *means;

    model_update(bayesian->objective);
    valued = gp_count(gp);
    first = append_pending(bayesian, history);
    rows = gp_count(gp);
    fantasies = rows > valued ? FANTASIES : 1;
    plan->weights = mem_array(fantasies * rows, sizeof(*plan->weights));
    for (size_t f = 0; f < fantasies; f++)
        memcpy(plan->weights + f * rows, gp_weights(gp),
               valued * sizeof(*plan->weights));
    if (rows > valued)
        draw_fantasies(bayesian, plan, history, first, rows);
    means = mem_array(fantasies * rows, sizeof(*means));
    gp_means_at_rows(gp, plan->weights, fantasies, means);
    for (size_t f = 0; f < fantasies; f++)
        plan->targets[f] =
            find_target(bayesian, history, means + f * rows, rows);
    free(means);
    plan->acquisition.fantasy_count = fantasies;
    plan->acquisition.weights = plan->weights;
    plan->acquisition.targets = plan->targets;
    if (isfinite(plan->targets[0]))
        plan->acquisition.objective = gp;
}

static void plan_limits(struct bayesian *bayesian, struct plan *plan)
{
    size_t count = 0;

    plan->limits =
        mem_array(bayesian->options.outcome_count + 1, sizeof(*plan->limits));
    if (bayesian->failures > 0) {
        model_update(bayesian->success);
        plan->limits[count++].gp = model_gp(bayesian->success);
    }
    for (size_t i = 0; i < bayesian->options.outcome_count; i++) {
        if (model_count(bayesian->outcomes[i]) == 0)
            continue;
        model_update(bayesian->outcomes[i]);
        plan->limits[count++].gp = model_gp(bayesian->outcomes[i]);
    }
    plan->acquisition.limits = plan->limits;
    plan->acquisition.limit_count = count;
}

/* The best few trials, the best first. */
static void plan_anchors(const struct bayesian *bayesian, struct plan *plan,
                         const struct history *history)
{
    size_t best[ANCHORS], count = 0;

    for (size_t i = 0; i < model_count(bayesian->objective); i++) {
        size_t index = bayesian->trials[i], at = count;

        while (at > 0 && history_better(history, index, best[at - 1]))
            at--;
        if (at == ANCHORS)
            continue;
        if (count < ANCHORS)
            count++;
        memmove(&best[at + 1], &best[at], (count - 1 - at) * sizeof(*best));
        best[at] = index;
    }
    for (size_t i = 0; i < count; i++)
        plan->anchors[i] = history_unit(history, best[i]);
    plan->anchor_count = count;
    plan->best = count > 0 ? best[0] : SIZE_MAX;
}

static void explain(struct bayesian *bayesian, const struct plan *plan,
                    const struct ask *ask, double value)
{
    const struct acquisition *acquisition = &plan->acquisition;
    const struct warp *warp = model_warp(bayesian->objective);
    struct gp_query query = {0};
    double mean, z;

    ask->reason->step = "log EI";
    ask->reason->acquisition = value;
    if (plan->best != SIZE_MAX)
        ask->reason->incumbent = ask->history->numbers[plan->best];
    if (acquisition->objective == NULL) {
        ask->reason->step = "log probability of success";
        return;
    }
    gp_predict(acquisition->objective, bayesian->columns, 1, &query);
    z = gp_mean(acquisition->objective);
    for (size_t i = 0; i < model_row_count(bayesian->objective); i++)
        z += query.solved[i] * acquisition->weights[i];
    mean = warp_undo(warp, z);
    ask->reason->mean = mean;
    ask->reason->deviation = warp_slope(warp, z) * sqrt(query.variance[0]);
    gp_query_clear(&query);
    snprintf(ask->reason->note, sizeof(ask->reason->note),
             "%zu results, %zu pending", model_count(bayesian->objective),
             ask->history->pending_count);
}

static enum ask_result suggest(struct bayesian *bayesian, struct ask *ask)
{
    struct plan plan = {.acquisition = {.linalg = bayesian->linalg},
                        .best = SIZE_MAX};
    struct maximise maximise = {
        .domain = bayesian->domain,
        .acquisition = &plan.acquisition,
        .anchors = plan.anchors,
        .low = bayesian->low,
        .high = bayesian->high,
    };
    bool found = false;
    double value;

    if (model_count(bayesian->objective) > 0)
        plan_objective(bayesian, &plan, ask->history);
    plan_limits(bayesian, &plan);
    plan_anchors(bayesian, &plan, ask->history);
    maximise.anchor_count = plan.anchor_count;
    maximise.log_lengths = plan.acquisition.objective != NULL
                               ? model_hyper(bayesian->objective)->log_lengths
                               : model_hyper(bayesian->success)->log_lengths;
    rng_init(&maximise.rng, bayesian->options.seed, ask->trial,
             STREAM_BAYESIAN);
    if (plan.acquisition.objective != NULL || plan.acquisition.limit_count > 0)
        found = maximise_run(&maximise, ask, bayesian->columns, &value);
    if (found)
        explain(bayesian, &plan, ask, value);
    plan_clear(&plan);
    return found ? ASK_OK : ASK_EXHAUSTED;
}

static enum ask_result bayesian_next(void *state, struct ask *ask,
                                     struct err *err)
{
    struct bayesian *bayesian = state;

    if (make_models(bayesian, err) < 0)
        return ASK_ERROR;
    read_history(bayesian, ask->history);
    if (is_starting(bayesian, ask->history))
        return startup_next(bayesian->startup, ask, err);
    return suggest(bayesian, ask);
}

const struct strategy_method strategy_method_bayesian = {
    .name = "bayesian",
    .doc = "A Gaussian process of the objective, and the trial that promises "
           "most by it.",
    .learns = true,
    .create = bayesian_create,
    .destroy = bayesian_destroy,
    .next = bayesian_next,
};
