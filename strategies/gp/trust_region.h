/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_TRUST_REGION_H
#define SMTUNE_STRATEGIES_GP_TRUST_REGION_H

#include <stddef.h>

/*
 * A box around the best trial in which the next one is looked for, where there
 * are too many dimensions or trials to know the whole space: D. Eriksson et
 * al., "Scalable global optimization via local Bayesian optimization" (NeurIPS
 * 2019), section 2, with one region. It doubles after successes in a row and
 * halves after failures in a row; one that has become too small starts again.
 * Embedded: trust_region_init.
 */
struct trust_region {
    double length; /* of a side, on average, in unit coordinates */
    double best;
    size_t successes, failures; /* in a row */
    size_t dimensions;
};

void trust_region_init(struct trust_region *region, size_t dimensions);
/* The next result in the order told; infinity for a failed trial. */
void trust_region_tell(struct trust_region *region, double value);
/* The box: sides in proportion to the length scales, around centre[] and inside
 * 0 .. 1; a centre that is NaN has all. All arrays are [dimensions]. */
void trust_region_box(const struct trust_region *region, const double *centre,
                      const double *log_lengths, double *low, double *high);

#endif
