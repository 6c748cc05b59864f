/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_RANKING_H
#define SMTUNE_STRATEGIES_MODELS_RANKING_H

#include <stddef.h>

struct history;

/*
 * Sorts order[count], indices of trials that ended, best first: complete ones,
 * then those that were stopped, then failed ones. Complete ones: by what their
 * outcome constraints are exceeded by, then by value; with several objectives
 * by constrained dominance among them, then by crowding, the lonely first
 * (strategies/history/pareto.h). Equals stay in their order; ties[i] becomes
 * the position of the first that is as good as the one at i. ties may be NULL.
 */
void ranking_sort(const struct history *history, size_t *order, size_t count,
                  size_t *ties);

#endif
