/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_FLOW_PROOF_H
#define SMTUNE_ORCHESTRATOR_PROOF_FLOW_PROOF_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/workflow.h"
#include "store/store.h"

/*
 * Proof of what a workflow's run did: from its events alone the flow
 * (workflows/flow.h) is asked once more which step comes next, whether it
 * begins, which of its copies starts, and in what it ends; and the file's
 * expressions what a condition, a matrix and a round's values are. All must be
 * as it is in the record.
 *
 * What a matrix found among files stands outside the events, and is believed,
 * as is that the user put a job back.
 */

struct flow_replay {
    int64_t proved; /* beginnings, starts and ends; the first ones */
    /* The first event that does not follow; 0: all do. */
    int64_t seq;
    const char *step; /* its name; NULL: of a job, or the run */
    int64_t job;      /* the number of the job; 0: none */
    char text[256];
};

/* workflow is as in the record. -1 when the record cannot be read. */
int flow_replay_run(struct store *store, int64_t run,
                    const struct workflow *workflow, const char *run_name,
                    struct flow_replay *replay, struct err *err);

#endif
