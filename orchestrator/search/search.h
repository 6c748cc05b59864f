/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_SEARCH_H
#define SMTUNE_ORCHESTRATOR_SEARCH_SEARCH_H

#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"
#include "strategies/gp/convergence.h"
#include "strategies/strategy.h"

struct warm_start;

/* The strategy of an experiment, with earlier results (NULL: none) and what its
 * file asks to be tried first. Borrows the experiment alone; the caller's to
 * destroy. NULL with err as strategy_create. */
struct strategy *search_create(const struct experiment *experiment,
                               const struct warm_start *warm, struct err *err);

/* The same for a run, with the earlier results that were kept with it. */
struct strategy *search_create_of_run(const struct experiment *experiment,
                                      struct store *store, int64_t run,
                                      struct err *err);

/* The method that a run searches by, and why `auto` chose it. */
struct search_choice {
    char *method, *reason;
};

/* -1 as strategy_create; the caller clears *choice in every case. */
int search_choose(const struct experiment *experiment, struct store *store,
                  int64_t run, struct search_choice *choice, struct err *err);
void search_choice_clear(struct search_choice *choice);

/* What says when the search has converged; NULL: the budget does not ask.
 * Borrows the experiment; the caller's to destroy. */
struct convergence *search_create_convergence(
    const struct experiment *experiment);

/*
 * A trial's setting as the record has it, in the types of the space:
 * point[space_count]. ERR_FAILED when it is not of this space.
 */
int search_point(const struct space *space, const struct trial_row *row,
                 struct value *point, struct err *err);

#endif
