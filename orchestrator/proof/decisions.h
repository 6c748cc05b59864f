/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_DECISIONS_H
#define SMTUNE_ORCHESTRATOR_PROOF_DECISIONS_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/spec.h"
#include "store/store.h"

/*
 * Proof of a run's decisions: from its events alone it is decided once more
 * what became of each attempt's end (success, failure, a retry and when, an
 * interruption), whether the budget let another trial begin or ended those that
 * ran, and in what the run ended. What a decision hangs on is told by the same
 * pure functions that the engine asks (trial_judge_end, retry_match,
 * retry_wait_ms, budget_check). So it is for the jobs of a workflow; what comes
 * next there, and how its run ends, is for flow_proof.h.
 *
 * Two things stand outside the events, and are believed: what a log said to a
 * rule that looks for it, and that the user stopped the run.
 */

struct decisions {
    int64_t proved; /* the first ones */
    /* The first that does not follow; 0: all do. */
    int64_t seq;
    int64_t trial;  /* its number; 0: the run's */
    char text[256]; /* what is recorded, and what follows */
};

/* spec is as in the record. -1 when the record cannot be read. */
int decisions_replay(struct store *store, int64_t run, const struct spec *spec,
                     struct decisions *decisions, struct err *err);

#endif
