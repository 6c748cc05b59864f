/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_RECORD_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/job/budget.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/feedback.h"
#include "strategies/gp/convergence.h"

struct ask_tell;

/*
 * A session's run in the record, for the session's own files alone. What
 * happens to a trial is written before its fields change (job, attempt,
 * attempt_count and started_ms apart, which are kept here). All do nothing
 * where nothing is recorded, or once something could not be.
 */

struct ask_tell_record {
    struct run *run; /* borrowed */
    struct tally tally;
    struct convergence *convergence; /* NULL: nobody asks for it */
    enum budget_verdict verdict;     /* that ends the run, or BUDGET_GO_ON */
    int64_t earlier_ms;              /* of earlier sessions */
    int64_t opened_ms;               /* monotonic */
    bool is_broken;
    struct err broken; /* why it cannot go on */
};

void ask_tell_record_destroy(struct ask_tell_record *record); /* NULL is none */

/* The open transaction, opened if it is not; false: it cannot be. */
bool ask_tell_record_begin(struct ask_tell *ask_tell);
void ask_tell_record_break(struct ask_tell *ask_tell, const struct err *err);
/* The same for the result of a call that writes, where it is not 0. */
void ask_tell_record_check(struct ask_tell *ask_tell, int result,
                           const struct err *err);

/* ---- trials ---- */

/* A new one, as suggested and assigned (NULL: there is no schedule). */
void ask_tell_record_add(struct ask_tell *ask_tell, size_t number,
                         const struct suggestion *suggestion,
                         const struct assignment *assignment);
/* A setting that a client told the result of, before its trial. */
void ask_tell_record_wish(struct ask_tell *ask_tell, uint64_t id,
                          const struct value *values);
/* A client runs it. */
void ask_tell_record_start(struct ask_tell *ask_tell, size_t number);
/* It does so no more. */
void ask_tell_record_give_back(struct ask_tell *ask_tell, size_t number);
/* It is over, with the values and outcomes that it has. */
void ask_tell_record_end(struct ask_tell *ask_tell, size_t number,
                         enum job_state state);

/* ---- on the way ---- */

/* A point of the curve of the objective that decides. */
void ask_tell_record_point(struct ask_tell *ask_tell, size_t number,
                           double step, double value);
void ask_tell_record_observe(struct ask_tell *ask_tell,
                             const struct feedback_item *item,
                             const struct verdict *verdict);
/* It has used what it was given, that resource. */
void ask_tell_record_pause(struct ask_tell *ask_tell, size_t number,
                           uint64_t resource);
void ask_tell_record_promote(struct ask_tell *ask_tell, size_t number,
                             const struct assignment *next);

/* ---- the budget ---- */

/* Takes in a result. */
void ask_tell_record_count(struct ask_tell *ask_tell,
                           const struct feedback_item *item);
/* Whether the budget has ended the run. False where nothing is recorded. */
bool ask_tell_record_is_over(struct ask_tell *ask_tell);
/* Where nothing is left to do, adds that to an answer, with the reason. False
 * where something is, or nothing is recorded. */
bool ask_tell_record_describe(struct ask_tell *ask_tell, json_t *answer);

/* Whether nothing is left to do: *verdict is why, and the text of the record,
 * into reason[size]. */
bool ask_tell_record_conclude(struct ask_tell *ask_tell,
                              enum budget_verdict *verdict, char *reason,
                              size_t size);

#endif
