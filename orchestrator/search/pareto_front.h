/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_PARETO_FRONT_H
#define SMTUNE_ORCHESTRATOR_SEARCH_PARETO_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * The Pareto front of a run: of its trials that succeeded, are feasible and
 * have finite values, those which no other beats, that is, is better in one
 * objective and no worse in the others. Equal trials stay side by side.
 */

struct experiment;
struct pareto_front;
struct store;

/* Both are the caller's to destroy. maximize[objective_count], copied: whether
 * more is better. */
struct pareto_front *pareto_front_create(const bool *maximize,
                                         size_t objective_count);
struct pareto_front *pareto_front_of_experiment(
    const struct experiment *experiment);
void pareto_front_destroy(struct pareto_front *front);

/* values[objective_count] of a feasible trial, as said. Whether it is on the
 * front now; not where one of them is not finite. */
bool pareto_front_add(struct pareto_front *front, int64_t number,
                      const double *values);
/* Adds all of a run's trials that may be on it. 0, or -1. */
int pareto_front_load(struct pareto_front *front, struct store *store,
                      int64_t run, struct err *err);

size_t pareto_front_count(const struct pareto_front *front);
bool pareto_front_has(const struct pareto_front *front, int64_t number);

/*
 * The volume that the front dominates, up to reference[objective_count], which
 * is chosen a little behind its worst values
 * (strategies/history/hypervolume.h). NaN where the front is empty, or so large
 * that it would take long.
 */
double pareto_front_hypervolume(const struct pareto_front *front,
                                double *reference);

#endif
