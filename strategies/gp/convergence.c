/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/convergence.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/gp/maximise.h"
#include "strategies/gp/proposal.h"
#include "strategies/space/hash_set.h"

enum {
    RESULTS_FIRST = 20,   /* no look before so many results */
    RESULTS_PER_AXIS = 4, /* nor before so many for each axis */
    LOOKS_EACH = 20,      /* a look each time that results grow by this part */
    LOOKS_QUIET = 5       /* in a row */
};

static_assert(RESULTS_FIRST + LOOKS_QUIET - 1 == CONVERGENCE_RESULTS_MIN,
              "looks in a row, from the first");

/* What the best next trial may gain, as a share of an improvement. */
static const double gain_share = 0.1;

struct convergence {
    struct convergence_options options;
    struct space *space;
    struct history asked;          /* all pending: where a trial is */
    struct history history;        /* a row each result, in the order told */
    struct surrogates *surrogates; /* NULL: not yet, or no memory */
    struct hash_set given;         /* of the results looked at */
    size_t looked;                 /* at so many results, last */
    size_t quiet;                  /* looks in a row up to then */
    struct value *point;           /* room for one */
    double *unit, *columns, *low, *high; /* likewise */
};

struct convergence *convergence_create(
    const struct convergence_options *options, struct space *space)
{
    struct convergence *convergence = mem_zero(sizeof(*convergence));

    convergence->options = *options;
    convergence->space = space;
    history_init(&convergence->asked, space, 1, options->outcome_count);
    history_init(&convergence->history, space, 1, options->outcome_count);
    return convergence;
}

void convergence_destroy(struct convergence *convergence)
{
    if (convergence == NULL)
        return;
    surrogates_destroy(convergence->surrogates);
    history_clear(&convergence->asked);
    history_clear(&convergence->history);
    hash_set_clear(&convergence->given);
    free(convergence->unit);
    free(convergence->point);
    free(convergence->columns);
    free(convergence->low);
    free(convergence->high);
    free(convergence);
}

static const enum history_state states[] = {
    [OUTCOME_COMPLETE] = HISTORY_COMPLETE,
    [OUTCOME_FAILED] = HISTORY_FAILED,
    [OUTCOME_STOPPED] = HISTORY_STOPPED,
};

void convergence_ask(struct convergence *convergence, uint64_t trial,
                     const struct value *point)
{
    history_ask(&convergence->asked, trial, point);
}

void convergence_tell(struct convergence *convergence, uint64_t trial,
                      const struct trial_result *result)
{
    size_t from = history_find(&convergence->asked, trial);
    size_t index;

    if (from == SIZE_MAX || result->outcome == OUTCOME_CANCELLED)
        return;
    index = history_add(&convergence->history, &convergence->asked, from,
                        HISTORY_PENDING);
    history_tell(&convergence->history, index, states[result->outcome],
                 result->values, result->outcomes);
}

/* ---- looks ---- */

/* The look that follows the one at so many results. */
static size_t next_look(const struct convergence *convergence, size_t results)
{
    size_t axes = domain_count(convergence->surrogates->domain);
    size_t first = RESULTS_PER_AXIS * axes;
    size_t step = results / LOOKS_EACH;

    if (first < RESULTS_FIRST)
        first = RESULTS_FIRST;
    return results < first ? first : results + (step > 0 ? step : 1);
}

static bool begin(struct convergence *convergence)
{
    size_t axes, columns;

    if (convergence->surrogates != NULL)
        return true;
    convergence->surrogates = surrogates_create(&convergence->history, NULL);
    if (convergence->surrogates == NULL)
        return false;
    axes = domain_count(convergence->surrogates->domain);
    columns = domain_shape(convergence->surrogates->domain)->column_count;
    convergence->point =
        mem_array(space_count(convergence->space), sizeof(struct value));
    convergence->unit =
        mem_array(space_count(convergence->space), sizeof(double));
    convergence->columns = mem_array(columns + 1, sizeof(double));
    convergence->low = mem_array(axes + 1, sizeof(double));
    convergence->high = mem_array(axes + 1, sizeof(double));
    for (size_t i = 0; i < axes; i++)
        convergence->high[i] = 1;
    return true;
}

/* What counts as an improvement on a best value, as the process sees it. */
static double improvement_of(const struct convergence *convergence,
                             const struct proposal *proposal)
{
    const struct warp *warp =
        model_warp(convergence->surrogates->objectives[0]);
    double best = history_values(&convergence->history, proposal->best)[0];
    double size = fmax(fabs(best), 2 * warp->half_scale);

    return convergence->options.improvement * size /
           warp_slope(warp, warp_apply(warp, best));
}

/* The logarithm of what the best next trial gains, as a share of that. */
static double find_gain(struct convergence *convergence, const struct ask *ask,
                        const struct proposal *proposal)
{
    struct maximise maximise = {
        .domain = convergence->surrogates->domain,
        .acquisition = &proposal->acquisition,
        .log_lengths = proposal->log_lengths,
        .anchors = proposal->anchors,
        .anchor_count = proposal->anchor_count,
        .low = convergence->low,
        .high = convergence->high,
    };
    double gain;

    rng_init(&maximise.rng, convergence->options.seed, ask->history->told_count,
             STREAM_CONVERGENCE);
    if (!maximise_run(&maximise, ask, convergence->columns, &gain))
        return -(double)INFINITY; /* every setting was tried */
    return gain - log(improvement_of(convergence, proposal));
}

/* So that no point is looked at as a new one that has a result. */
static void note_given(struct convergence *convergence, size_t index)
{
    const double *unit = history_unit(&convergence->history, index);

    for (size_t i = 0; i < convergence->history.dimension; i++)
        convergence->unit[i] = isnan(unit[i]) ? 0.5 : unit[i];
    space_decode(convergence->space, convergence->unit, convergence->point);
    hash_set_add(&convergence->given,
                 space_hash(convergence->space, convergence->point));
}

/* Whether little is to be gained, by the first so many results. */
static bool is_quiet(struct convergence *convergence, size_t results)
{
    struct history history = convergence->history;
    struct reason reason;
    struct ask ask = {
        .trial = results * 2, /* even: the model is doubted where it stalls */
        .history = &history,
        .given = &convergence->given,
        .space = convergence->space,
        .point = convergence->point,
        .reason = &reason,
    };
    struct proposal proposal;
    bool quiet = false;

    history.told_count = results;
    for (size_t i = convergence->surrogates->read; i < results; i++)
        note_given(convergence, i);
    surrogates_read(convergence->surrogates, &history);
    if (surrogates_count(convergence->surrogates) < RESULTS_FIRST)
        return false;
    if (proposal_init(&proposal, convergence->surrogates, &ask,
                      convergence->options.seed) &&
        proposal.acquisition.objective != NULL && proposal.best != SIZE_MAX)
        quiet = find_gain(convergence, &ask, &proposal) <= log(gain_share);
    proposal_clear(&proposal);
    return quiet;
}

bool convergence_reached(struct convergence *convergence)
{
    size_t results = convergence->history.told_count;
    size_t places[LOOKS_QUIET] = {0};
    size_t count = 0;

    if (!begin(convergence))
        return false;
    for (size_t at = next_look(convergence, convergence->looked); at <= results;
         at = next_look(convergence, at))
        places[count++ % LOOKS_QUIET] = at;
    for (size_t i = count > LOOKS_QUIET ? count - LOOKS_QUIET : 0; i < count;
         i++) {
        convergence->looked = places[i % LOOKS_QUIET];
        if (is_quiet(convergence, convergence->looked))
            convergence->quiet++;
        else
            convergence->quiet = 0;
    }
    return convergence->quiet >= LOOKS_QUIET;
}
