/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_STANDINGS_H
#define SMTUNE_STRATEGIES_HISTORY_STANDINGS_H

#include <stddef.h>

/*
 * The told trials of a history from best to worst, kept as results come in.
 * Complete trials that satisfy the constraints on outcomes come first, then
 * stopped ones that do, then those that break them, by how far. Within these
 * the smaller value is better; with several objectives the smaller rank of
 * nondominated sorting, and in the first ranks the larger share of hypervolume
 * (strategies/history/pareto.h, hypervolume.h). Equals are in an order of
 * chance that their place in the history fixes. Failed trials, and stopped ones
 * without values, have no standing.
 *
 * A cache of what follows from the history. Embedded: starts from all zeroes,
 * ends with standings_clear.
 */

struct history;
struct standing;

struct standings {
    size_t *order; /* [count]: indices of the history, best first */
    size_t count;
    size_t *lost; /* [lost_count]: those without a standing, as told */
    size_t lost_count;
    size_t told_count; /* how many results of the history are in here */

    struct standing *all; /* [all_capacity], by index of the history */
    size_t all_capacity, capacity, lost_capacity;
};

/* Takes in what was told since. */
void standings_update(struct standings *standings,
                      const struct history *history);
void standings_clear(struct standings *standings);

#endif
