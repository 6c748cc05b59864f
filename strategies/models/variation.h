/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_VARIATION_H
#define SMTUNE_STRATEGIES_MODELS_VARIATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How genetic methods make a point of two others, in unit coordinates. A NaN is
 * a parameter that is not active.
 */

struct rng;
struct space;

/*
 * child[space_count] of two parents' coordinates. Numbers and ordinals by
 * simulated binary crossover (K. Deb, R. Agrawal, "Simulated binary crossover
 * for continuous search space", Complex Systems 9(2), 1995), categories and
 * bools from either parent. What is
 * active in one parent alone comes from there; what is in none stays NaN.
 */
void variation_cross(const struct space *space, const double *mother,
                     const double *father, struct rng *rng, double *child);

/*
 * Changes each coordinate with that probability, and in any case one of those
 * that are active: numbers and ordinals by polynomial mutation (K. Deb, M.
 * Goyal, "A combined genetic adaptive search (GeneAS) for engineering design",
 * Computer Science and Informatics 26(4), 1996), a finite one by a value at
 * least; categories to any other. A NaN becomes a random coordinate.
 */
void variation_mutate(const struct space *space, double probability,
                      struct rng *rng, double *child);

#endif
