/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_REPLAY_H
#define SMTUNE_ORCHESTRATOR_PROOF_REPLAY_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/experiment.h"
#include "store/store.h"

/*
 * Proof of a run's suggestions: a fresh strategy is asked for every trial of
 * the record again, knowing what was known then, and must say the same. So must
 * a fresh schedule, of every trial that begins, goes on or is stopped.
 */

struct replay {
    int64_t trials; /* looked at */
    int64_t proved; /* of them, the first ones */
    /* The first that differs; 0: none does. */
    int64_t differs;
    const char *param;     /* of the space: the first that differs */
    struct value recorded; /* text is the space's */
    struct value suggested;

    int64_t steps; /* of the schedule that were proved */
    /* The first that differs was in this place, and of this trial; 0: none
     * does. What comes behind it was not looked at. */
    int64_t step_place, step_trial;
    char step_text[256];
};

/* experiment is as in the record. -1 when the record cannot be read, or the
 * strategy not be asked. */
int replay_run(struct store *store, int64_t run,
               const struct experiment *experiment, struct replay *replay,
               struct err *err);

#endif
