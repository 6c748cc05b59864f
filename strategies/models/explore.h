/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_EXPLORE_H
#define SMTUNE_STRATEGIES_MODELS_EXPLORE_H

struct rng;
struct space;
struct value;

/*
 * A point near another, for a trial that goes on from the other's checkpoint:
 * "explore" of M. Jaderberg et al., "Population based training of neural
 * networks", arXiv:1711.09846, section 4.1. Each parameter is drawn anew with
 * probability `resample`. Else a number is multiplied by 1.2 or 0.8 on its own
 * scale (x itself if that is linear or log, 1 - x if reverse_log, the odds
 * x / (1 - x) if logit), clipped to the range, and one with steps comes to
 * another step where there is one; an ordinal goes to a neighbour, a category
 * or a bool is drawn anew. So is what is inactive in the parent. Into
 * point[space_count], conditions applied; where none of 100 points satisfies
 * the constraints, it is the parent. Texts belong to the space.
 */
void explore_point(struct space *space, double resample, struct rng *rng,
                   const struct value *parent, struct value *point);

#endif
