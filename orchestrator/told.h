/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_TOLD_H
#define SMTUNE_ORCHESTRATOR_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/experiment.h"
#include "orchestrator/states.h"
#include "store/store.h"
#include "strategies/strategy.h"

/*
 * The results of a run's record in the order in which its strategy was told
 * them, so that it can be told them again between the same suggestions. A trial
 * that its user put back to be run again may have several: the last one counts,
 * those before it are superseded.
 */
struct told;

/* A trial that is over. */
struct told_trial {
    int64_t number;
    int64_t place;          /* 1, 2, 3 ... */
    enum job_state state;   /* a final one */
    const double *values;   /* [objective_count]; NULL: not all were said */
    const double *outcomes; /* [outcome_count], as said; NULL: as values */
    int64_t attempts;       /* superseded: that it had had by then */
    bool is_superseded;
};

/* Tells the strategy of it. */
void told_tell(struct strategy *strategy, const struct experiment *experiment,
               const struct told_trial *trial);

/* With what is superseded of the run; NULL on error. */
struct told *told_create(const struct experiment *experiment,
                         struct store *store, int64_t run, struct err *err);
void told_destroy(struct told *told); /* NULL is none */

/*
 * Takes in a trial that is over, and passes over one that is not. Rows come in
 * the order of their numbers: what was known when a trial was suggested came
 * before its row. -1 when its state is not known.
 */
int told_add(struct told *told, const struct trial_row *row, struct err *err);
/* The next one whose place is at most `place`, until the next call; NULL: there
 * is none. */
const struct told_trial *told_next(struct told *told, int64_t place);

#endif
