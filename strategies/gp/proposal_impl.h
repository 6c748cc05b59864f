/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_PROPOSAL_IMPL_H
#define SMTUNE_STRATEGIES_GP_PROPOSAL_IMPL_H

#include "base/rng.h"
#include "strategies/gp/proposal.h"

/* Between proposal.c and proposal_goals.c alone. */

/* Trials without a value, which get a row each: those that fell behind, then
 * those that are pending; the newest of more than there is room for. */
struct guests {
    const struct history *history;
    uint64_t seed;
    size_t trials[SURROGATES_PENDING_MAX];
    size_t count, behind; /* the first of them */
};

void proposal_find_guests(struct guests *guests, const struct history *history,
                          uint64_t seed);
void proposal_append_guests(const struct guests *guests,
                            struct surrogates *surrogates, struct gp *gp);

/* How many fantasies there are of the guests, the last rows of the process, and
 * the weights [fantasies][rows] of each: the caller's to free. */
size_t proposal_fantasies(const struct guests *guests, const struct gp *gp,
                          uint64_t stream, double **weights);

bool proposal_is_feasible(const struct surrogates *surrogates,
                          const struct history *history, size_t result);

/* Standard normal. */
double proposal_normal(struct rng *rng);

/* The part of proposal_init for several objectives. */
void proposal_goals(struct proposal *proposal, struct surrogates *surrogates,
                    const struct ask *ask, uint64_t seed);

#endif
