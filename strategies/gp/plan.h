/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_PLAN_H
#define SMTUNE_STRATEGIES_GP_PLAN_H

#include "strategies/gp/acquisition.h"
#include "strategies/gp/surrogates.h"
#include "strategies/strategy_impl.h"

/*
 * What one suggestion is to be made by: the acquisition on the surrogates as
 * they are, pending trials among their rows, and the trials worth a look
 * around. Embedded: plan_init, plan_clear.
 */

enum { PLAN_ANCHORS = 5, PLAN_FANTASIES = 12 };

struct plan {
    struct acquisition acquisition;
    const char *step;          /* what the acquisition is, for struct reason */
    const double *log_lengths; /* a scale for each axis */
    const double *anchors[PLAN_ANCHORS]; /* unit[] of the best trials */
    size_t anchor_count;
    size_t best; /* index in the history; SIZE_MAX: none, or many objectives */

    struct acquisition_limit *limits;
    struct acquisition_goal goals[ACQUISITION_GOALS_MAX];
    double *weights[ACQUISITION_GOALS_MAX]; /* [fantasies][rows] each */
    double targets[PLAN_FANTASIES];
    struct boxes regions[PLAN_FANTASIES];
};

/* False when there is nothing to go by. surrogates must have read the history;
 * they are borrowed, and are not to be touched before plan_clear. */
bool plan_init(struct plan *plan, struct surrogates *surrogates,
               const struct ask *ask, uint64_t seed);
void plan_clear(struct plan *plan);

#endif
