/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_SCHEDULE_PROOF_H
#define SMTUNE_ORCHESTRATOR_PROOF_SCHEDULE_PROOF_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/spec/experiment.h"
#include "store/store.h"

struct replay;

/*
 * Proof of what a run's schedule decided: a fresh one is told what it was told
 * then, and must say the same of every observation, and want the same steps:
 * new trials, promotions, stops of paused trials. Beside it goes the strategy,
 * which is told here, too.
 */
struct schedule_proof;

/* Where there is no schedule it proves nothing. Borrows the experiment. NULL on
 * error. */
struct schedule_proof *schedule_proof_create(
    const struct experiment *experiment, struct err *err);
void schedule_proof_destroy(struct schedule_proof *proof); /* NULL is none */

/* The event that is read, before all that follows. */
void schedule_proof_look(struct schedule_proof *proof, struct replay *replay);

/* A trial of the record begins. Whether it may, and as the schedule wants. */
bool schedule_proof_begin(struct schedule_proof *proof,
                          const struct trial_row *row);

/* The setting of a trial that begins at the checkpoint of one with the setting
 * parent[space_count], into point. */
void schedule_proof_explore(const struct schedule_proof *proof, int64_t number,
                            const struct value *parent, struct value *point);

/* Tells both. Whether the schedule says the same as the record. */
bool schedule_proof_tell(struct schedule_proof *proof,
                         struct strategy *strategy,
                         const struct feedback_item *item);

/* How many steps and decisions are proved. */
int64_t schedule_proof_count(const struct schedule_proof *proof);
/* What differs, after false. */
const char *schedule_proof_text(const struct schedule_proof *proof);

#endif
