/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_LEARNING_RATE_H
#define SMTUNE_STRATEGIES_MODELS_LEARNING_RATE_H

#include <stddef.h>

/*
 * How far to follow the steps that a search distribution is told to make: all
 * the way as long as they agree, and less the more they contradict each other,
 * by noise or because there are many optima. The rate is moved so that what
 * many small steps come to keeps the same ratio of signal to noise, which is
 * what a larger population would be for: M. Nomura, Y. Akimoto, I. Ono,
 * "CMA-ES with learning rate adaptation: can CMA-ES with default population
 * size solve multimodal and noisy problems?", GECCO 2023 (arXiv 2304.03473),
 * section 4. Symbols are those of the paper.
 *
 * One for each part of a distribution that moves, the mean and the covariance.
 * Steps are in coordinates in which the distribution before the step is the
 * standard normal one. Embedded: learning_rate_init, learning_rate_clear.
 */
struct learning_rate {
    double eta;         /* in (0, 1]; begins as 1 */
    double beta;        /* of the moving averages */
    double *mean_step;  /* [size]: E */
    double mean_square; /* V: of the steps' squared norms */
    size_t size;
};

void learning_rate_init(struct learning_rate *rate, size_t size, double beta);
void learning_rate_clear(struct learning_rate *rate);

/* Takes note of step[size], and sets eta to what it is to be multiplied by. */
void learning_rate_tell(struct learning_rate *rate, const double *step);

/* From now on steps are matrices, [size][size], of which those until now were
 * the diagonals. */
void learning_rate_widen(struct learning_rate *rate);

#endif
