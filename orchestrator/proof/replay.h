/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_REPLAY_H
#define SMTUNE_ORCHESTRATOR_PROOF_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "orchestrator/spec/spec.h"
#include "store/store.h"

/*
 * Proof that all that a run chose follows from its record. What it chose is
 * asked for once more, of fresh parts of the same kind that know what was known
 * then, and must be the same:
 *
 * - Suggestions: each trial's setting, bit for bit, of the search.
 * - Schedule: each trial that began, went on or was stopped, and each decision
 *   on its way, of the schedule.
 * - Flow: which step of a workflow came next, whether it began, which of its
 *   copies started, and in what it ended, of the flow (workflows/flow.h) and
 *   the file's expressions. What a matrix found among files stands outside the
 *   record, and is believed, as is that the user put a job back.
 * - Decisions: what became of each attempt's end (success, failure, a retry and
 *   when, an interruption), whether the budget let another trial begin or ended
 *   those that ran, and in what the run ended, of the same pure functions that
 *   the engine asks (job_judge_end, retry_match, retry_wait_ms,
 *   budget_check). Two things stand outside the events, and are believed: what
 *   a log said to a rule that looks for it, and that the user stopped the run.
 */
enum proof_kind {
    PROOF_SUGGESTIONS,
    PROOF_SCHEDULE,
    PROOF_FLOW,
    PROOF_DECISIONS,
    PROOF_COUNT
};

struct proof {
    bool has_any;   /* else the run has nothing of the kind */
    bool is_whole;  /* all was looked at, and follows */
    int64_t proved; /* the first ones */

    /* The first that does not follow; what comes behind it was not looked at.
     */
    bool differs;
    int64_t seq;                      /* of its event; 0: it has none */
    int64_t place;                    /* among the results; 0: it has none */
    int64_t number;                   /* of its trial or job; 0: the run's */
    const char *step;                 /* its name; NULL: of a job, or the run */
    const char *param;                /* of the space; NULL: it is no setting */
    struct value recorded, suggested; /* of that; text is the space's */
    char text[256];                   /* what is recorded, and what follows */
};

/* spec is as in the record, and its names are borrowed by the proofs. -1 when
 * the record cannot be read, or the search not be asked. */
int replay_run(struct store *store, int64_t run, const struct spec *spec,
               struct proof proofs[PROOF_COUNT], struct err *err);

#endif
