/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_PARETO_H
#define SMTUNE_STRATEGIES_HISTORY_PARETO_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Several objectives at once. Points are rows values[count][objectives], lower
 * is better in each. a dominates b when it is nowhere worse and somewhere
 * better; equal points do not dominate each other.
 *
 * With violations[count] (how far constraints are exceeded, 0: satisfied, may
 * be infinite), a smaller violation dominates a larger one, and objectives
 * decide among equals: K. Deb et al., "A fast and elitist multiobjective
 * genetic algorithm: NSGA-II", IEEE Trans. Evol. Comput. 6(2), 2002, section
 * VI. NULL: all satisfy.
 *
 * What a set of points is worth as a whole: strategies/history/hypervolume.h.
 */

bool pareto_dominates(const double *a, const double *b, size_t objectives);

/*
 * ranks[count]: 0 for what nothing dominates, 1 for what then nothing does,
 * and so on; the number of ranks. Efficient nondominated sort with binary
 * search (X. Zhang et al., "An efficient approach to nondominated sorting for
 * evolutionary multiobjective optimization", IEEE Trans. Evol. Comput. 19(2),
 * 2015): O(n log n) for two objectives, O(objectives n^2) at worst for more.
 */
size_t pareto_sort(const double *values, const double *violations, size_t count,
                   size_t objectives, size_t *ranks);

/*
 * distances[count]: how far the neighbours of a point are in each objective, as
 * a share of the range, summed; infinite for the first and last of an objective
 * (Deb et al., section III-B). Meant for the points of one rank.
 */
void pareto_crowding(const double *values, size_t count, size_t objectives,
                     double *distances);

#endif
