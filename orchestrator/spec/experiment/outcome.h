/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_OUTCOME_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_OUTCOME_H

#include <stddef.h>

/*
 * Constraints on outcomes: bounds on metrics that a trial says, within which it
 * is feasible. Methods know each bound by its excess, which is at most 0 where
 * the bound holds.
 */

struct outcome_bounds; /* store/store.h */

/* How many bounds the outcomes[count] have together. */
size_t outcome_bound_count(const struct outcome_bounds *outcomes, size_t count);

/*
 * By how much values[count] exceed each bound, into excess[bound_count], in
 * order and below before above: min - value, value - max. NaN where a value is.
 */
void outcome_excess(const struct outcome_bounds *outcomes, size_t count,
                    const double *values, double *excess);

/* The sum of what bounds are exceeded by; 0: feasible. Infinite where a value
 * is NaN, and where there are no values (NULL). */
double outcome_violation(const struct outcome_bounds *outcomes, size_t count,
                         const double *values);

#endif
