/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_ACQUISITION_H
#define SMTUNE_STRATEGIES_GP_ACQUISITION_H

#include <stddef.h>

#include "strategies/gp/boxes.h"
#include "strategies/gp/gp.h"

/*
 * How much a trial at a point promises: the logarithm of the expected
 * improvement (S. Ament et al., "Unexpected improvements to expected
 * improvement for Bayesian optimization", NeurIPS 2023, equation 7), which has
 * a slope where the improvement itself is zero to all digits; for pending
 * trials averaged over fantasies of their results (J. Snoek, H. Larochelle and
 * R. Adams, "Practical Bayesian optimization", NIPS 2012, section 3.2); plus
 * the logarithm of the probability of each constraint on an outcome (M.
 * Gelbart, J. Snoek and R. Adams, UAI 2014). Lower is better for objectives.
 */

/* log(phi(z) + z Phi(z)) to full precision for any z; *cdf and *pdf are Phi(z)
 * and phi(z) over what the logarithm is of. */
double acquisition_log_improvement(double z, double *cdf, double *pdf);
/* log Phi(z), and its derivative. */
double acquisition_log_probability(double z, double *slope);

/* A constraint: the process's value is at most `most`. */
struct acquisition_limit {
    const struct gp *gp;
    double most;
};

/*
 * One of several objectives. Of two or three the improvement is that of the
 * hypervolume which the front of each fantasy dominates (M. Emmerich, K.
 * Giannakoglou and B. Naujoks, "Single- and multiobjective evolutionary
 * optimization assisted by Gaussian random field metamodels", IEEE Trans. Evol.
 * Comput. 10(4), 2006), by boxes.h and in logarithms throughout.
 *
 * Of more, what a trial is worth is the least, over them, of (reference -
 * value) / share, and the improvement is by how much that is above the target.
 * With shares drawn evenly from the directions that are positive, this is on
 * average the improvement in hypervolume (D. Golovin and Q. Zhang, "Random
 * hypervolume scalarizations", ICML 2020, lemma 5, but for the power).
 */
struct acquisition_goal {
    const struct gp *gp;
    const double *weights;   /* [fantasy_count][rows], gp_weights of each */
    double reference, share; /* share > 0 */
};

enum { ACQUISITION_FANTASIES_MAX = 64, ACQUISITION_GOALS_MAX = 16 };

struct acquisition {
    const struct linalg *linalg;
    const struct gp *objective; /* NULL: goals, or constraints alone, count */
    /* Fantasies of the rows behind those with values, 1 to the maximum of them.
     * The weights (gp_weights) of each, and the value to improve on. */
    size_t fantasy_count;
    const double *weights; /* [fantasy_count][rows] */
    const double *targets; /* [fantasy_count] */
    const struct acquisition_limit *limits;
    size_t limit_count;
    const struct acquisition_goal *goals;
    size_t goal_count;
    const struct boxes *regions; /* [fantasy_count]: what fronts leave; NULL:
                                    goals are scalarised, with targets */
};

/* Room for evaluations; begins as all zeroes. */
struct acquisition_room {
    struct gp_query query;
    double *means; /* [points][fantasy_count] */
    double *pulls; /* [points][rows] */
    size_t means_capacity, pulls_capacity;
    struct gp_query goals[ACQUISITION_GOALS_MAX];
};
void acquisition_room_clear(struct acquisition_room *room);

/* At points[count][column_count], into values[count] and, unless NULL,
 * gradients[count][column_count]. */
void acquisition_evaluate(const struct acquisition *acquisition,
                          struct acquisition_room *room, const double *points,
                          size_t count, double *values, double *gradients);

#endif
