/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_TOLD_H
#define SMTUNE_ORCHESTRATOR_TOLD_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/experiment.h"
#include "orchestrator/states.h"
#include "store/store.h"
#include "strategies/strategy.h"

/*
 * The results of a run's record in the order in which its strategy was told
 * them, so that it can be told them again between the same suggestions.
 */
struct told;

/* A trial that is over. */
struct told_trial {
    int64_t number;
    int64_t place;          /* 1, 2, 3 ... */
    enum job_state state;   /* a final one */
    const double *values;   /* [objective_count]; NULL: not all were said */
    const double *outcomes; /* [outcome_count], as said; NULL: as values */
};

/* Tells the strategy of it. */
void told_tell(struct strategy *strategy, const struct experiment *experiment,
               const struct told_trial *trial);

struct told *told_create(const struct experiment *experiment);
void told_destroy(struct told *told); /* NULL is none */

/*
 * Takes in a trial that is over, and passes over one that is not. Rows come in
 * the order of their numbers: what was known when a trial was suggested came
 * before its row. -1 when its state is not known.
 */
int told_add(struct told *told, const struct trial_row *row, struct err *err);
/* The next one whose place is at most `place`, the list's; NULL: there is
 * none. */
const struct told_trial *told_next(struct told *told, int64_t place);
#endif
