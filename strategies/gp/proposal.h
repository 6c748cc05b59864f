/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_PROPOSAL_H
#define SMTUNE_STRATEGIES_GP_PROPOSAL_H

#include "strategies/gp/acquisition.h"
#include "strategies/gp/surrogates.h"
#include "strategies/strategy_impl.h"

/*
 * What one suggestion is to be made by: the acquisition on the surrogates as
 * they are, pending trials among their rows, and the trials worth a look
 * around. Embedded: proposal_init, proposal_clear.
 */

enum { PROPOSAL_ANCHORS = 5, PROPOSAL_FANTASIES = 12 };

struct proposal {
    struct acquisition acquisition;
    const char *step;          /* what the acquisition is, for struct reason */
    const double *log_lengths; /* a scale for each axis */
    const double *anchors[PROPOSAL_ANCHORS]; /* unit[] of the best trials */
    size_t anchor_count;
    size_t best; /* index in the history; SIZE_MAX: none, or many objectives */

    struct acquisition_limit *limits;
    struct acquisition_goal goals[ACQUISITION_GOALS_MAX];
    double *weights[ACQUISITION_GOALS_MAX]; /* [fantasies][rows] each */
    double targets[PROPOSAL_FANTASIES];
    struct boxes regions[PROPOSAL_FANTASIES];
};

/* False when there is nothing to go by. surrogates must have read the history;
 * they are borrowed, and are not to be touched before proposal_clear. */
bool proposal_init(struct proposal *proposal, struct surrogates *surrogates,
                   const struct ask *ask, uint64_t seed);
void proposal_clear(struct proposal *proposal);

#endif
