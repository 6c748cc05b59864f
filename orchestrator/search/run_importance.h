/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_RUN_IMPORTANCE_H
#define SMTUNE_ORCHESTRATOR_SEARCH_RUN_IMPORTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "strategies/history/importance.h"

struct experiment;
struct store;

/*
 * How much each parameter of a run matters to each objective, by
 * strategies/history/importance.h: shares[objective_count][space_count], each
 * row of which sums to 1 or is all 0. *results is how many trials they rest on;
 * 0 shares where these are fewer than IMPORTANCE_RESULTS_MIN. 0, or -1.
 */
int run_importance(struct store *store, int64_t run,
                   const struct experiment *experiment, double *shares,
                   size_t *results, struct err *err);

#endif
