/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_HYPERVOLUME_H
#define SMTUNE_STRATEGIES_HISTORY_HYPERVOLUME_H

#include <stddef.h>

/*
 * The volume that a set of points dominates, up to a reference point: what the
 * set is worth. Points are rows values[count][objectives], finite, lower is
 * better. A point that is not below the reference in every objective adds
 * nothing; neither does one that others dominate.
 *
 * Volumes are products of differences: scale the values first where these could
 * overflow.
 */

/*
 * Exact. Two and three objectives: sweeps, O(n log n) and O(n^2) at worst.
 * More: L. While, L. Bradstreet, L. Barone, "A fast way of calculating exact
 * hypervolumes", IEEE Trans. Evol. Comput. 16(1), 2012 (WFG), of which each
 * level has an objective less.
 */
double hypervolume(const double *values, size_t count, size_t objectives,
                   const double *reference);

/* contributions[count]: what the whole would lose without that point alone,
 * never negative. As much work as n hypervolumes. */
void hypervolume_contributions(const double *values, size_t count,
                               size_t objectives, const double *reference,
                               double *contributions);

/*
 * The rule for the reference point where nobody gives one: behind the worst of
 * the points that none dominates, by a tenth of their range in that objective
 * (where they all agree, of the range of all points, or else of 1). So the ends
 * of the front count, but little (H. Ishibuchi et al., "How to specify a
 * reference point in hypervolume calculation for fair performance comparison",
 * Evol. Comput. 26(3), 2018). reference[objectives]; count > 0.
 */
void hypervolume_reference(const double *values, size_t count,
                           size_t objectives, double *reference);
/* The same by a whole range: for a search, to which what is beyond the ends of
 * the front so far has to be worth something. */
void hypervolume_wide_reference(const double *values, size_t count,
                                size_t objectives, double *reference);

#endif
