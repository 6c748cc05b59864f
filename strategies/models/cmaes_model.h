/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_CMAES_MODEL_H
#define SMTUNE_STRATEGIES_MODELS_CMAES_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A distribution over the points of a search space that adapts to a ranking of
 * trials. Numbers and ordinals are coordinates of a normal distribution
 * (strategies/models/cma.h) over the unit cube; each categorical and bool
 * parameter has a probability a value.
 *
 * A continuous coordinate that is drawn outside the cube is mirrored at its
 * face: nothing gathers on the faces, and nothing is drawn to the middle.
 * A coordinate of a finite parameter is drawn on a continuum, of which each
 * value has its share, the outermost ones without end. The record has the value
 * alone, so when a result is used, the coordinate is drawn again within the
 * value's share. No value's neighbours become too unlikely to be seen (R.
 * Hamano et al., "CMA-ES with margin: lower-bounding marginal probability for
 * mixed-integer black-box optimization", GECCO 2022).
 *
 * The probabilities of categories follow the natural gradient and have a lower
 * bound (R. Hamano et al., "CatCMA: stochastic optimization for mixed-category
 * problems", GECCO 2024).
 *
 * An inactive parameter of a trial is drawn from the distribution as it is, or
 * for a category left out: it pulls nowhere.
 */

struct history;
struct cmaes_model;
struct rng;
struct space;

struct cmaes_model_options {
    size_t population; /* trials to an update, at least 2 */
    double deviation;  /* of each coordinate at the start, of the unit range */
    uint64_t seed;
    size_t diagonal_updates; /* before coordinates are seen as related */
    bool adapts_rates; /* of learning: strategies/models/learning_rate.h */
};

/* How many coordinates of a normal distribution, and values of categories less
 * one a parameter. */
void cmaes_model_count(const struct space *space, size_t *axes,
                       size_t *choices);

/* Around unit[space_count]; categories are all as likely. space is borrowed. */
struct cmaes_model *cmaes_model_create(
    struct space *space, const struct cmaes_model_options *options,
    const double *unit);
void cmaes_model_destroy(struct cmaes_model *model); /* NULL is none */

/* unit[space_count]; stretch above 1 draws farther away. */
void cmaes_model_draw(const struct cmaes_model *model, struct rng *rng,
                      double stretch, double *unit);
/* Trials order[population], best first; ties[i] is the first as good as i. */
void cmaes_model_update(struct cmaes_model *model,
                        const struct history *history, const size_t *order,
                        const size_t *ties);
/* Moves categories alone, by a share of the way to those of order[count]. */
void cmaes_model_lean(struct cmaes_model *model, const struct history *history,
                      const size_t *order, size_t count);

/* Whether no continuous coordinate deviates by more than `least` any more; not
 * where there is none. */
bool cmaes_model_is_narrow(const struct cmaes_model *model, double least);
bool cmaes_model_is_degenerate(const struct cmaes_model *model);
/* The deviation of a coordinate, on the whole; 0: none has one. */
double cmaes_model_step_size(const struct cmaes_model *model);
/* How much of each step the coordinates go; 1 where there is none. */
double cmaes_model_learning_rate(const struct cmaes_model *model);

#endif
