/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_FIDELITY_H
#define SMTUNE_STRATEGIES_FIDELITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/history/history.h"

/*
 * What search methods make of a schedule, which gives trials their resource bit
 * by bit: they model what trials had reached at one level of it, the same for
 * all, whatever became of them later. So a trial that was stopped early is
 * compared with the others at that point of their way, and one that was lucky
 * early on with what became of it. As in BOHB (S. Falkner, A. Klein and F.
 * Hutter, ICML 2018, section 3.2) that is the highest level which enough trials
 * have come to. Enough is three for each parameter and three more, and at least
 * 10; in place of BOHB's one for each parameter and three more, with which a
 * model of few results takes over from one of many too early. While no level
 * has enough, it is the one that most have come to.
 *
 * A level is a power of two, 2^k: a trial is at it with the first observation
 * from 2^k on and below 2^(k+1). So rungs are levels, as each is at least twice
 * the one below it (of two that are closer the lower one is), and curves that
 * are observed at every point need few levels. Above all these is the full
 * resource, with the results of trials that came to their end; those of earlier
 * runs (warm start) count there.
 *
 * A trial that is not at the level is pending when it may be on its way to it,
 * and behind when it was paused or stopped below: all that says is that the
 * schedule saw better ones there. Else it is set aside, as if it had never been
 * asked for. One that has failed has failed at every level.
 *
 * Without observations this is a history and nothing more. Embedded:
 * fidelity_init, fidelity_clear.
 */

struct partial_result;

enum { FIDELITY_FULL = 64 };

struct fidelity {
    struct history full; /* every trial; its result at the full resource */

    /* The rest is made by the first observation. */
    int level;            /* in use: k, or FIDELITY_FULL */
    struct history lower; /* at the level in use, where it is below the full */
    struct mark *marks;   /* [mark_capacity] by trial: levels it is at */
    size_t mark_capacity;
    struct partial *partials; /* [partial_count], as observed: one a level */
    double *cells; /* [partial_count][objective_count + outcome_count] */
    size_t partial_count, partial_capacity, cell_capacity;
    size_t counts[FIDELITY_FULL];      /* trials with values at level k */
    uint64_t resources[FIDELITY_FULL]; /* the first trial's at level k */
    size_t enough;
};

void fidelity_init(struct fidelity *fidelity, struct space *space,
                   size_t objective_count, size_t outcome_count);
void fidelity_clear(struct fidelity *fidelity);

/* At the level in use. */
const struct history *fidelity_history(const struct fidelity *fidelity);

/* Where that level begins: the resource of the first trial at it; 0: it is the
 * full one. */
uint64_t fidelity_resource(const struct fidelity *fidelity);

/* As history_ask, but that index is the same at all levels. */
size_t fidelity_ask(struct fidelity *fidelity, uint64_t number,
                    const struct value *point);

/*
 * As history_tell. A stopped trial counts by its observations alone, once there
 * are observations. Returns whether what was in the history in use holds no
 * more: another level is in use, or a trial has come to another end.
 */
bool fidelity_tell(struct fidelity *fidelity, size_t index,
                   enum history_state state, const double *values,
                   const double *outcomes);

/* The trial has come so far; true: as above. What is told of a trial that is
 * over, or that has some of its values alone, counts for nothing. */
bool fidelity_observe(struct fidelity *fidelity, size_t index,
                      const struct partial_result *result);

#endif
