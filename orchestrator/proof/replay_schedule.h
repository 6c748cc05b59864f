/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_REPLAY_SCHEDULE_H
#define SMTUNE_ORCHESTRATOR_PROOF_REPLAY_SCHEDULE_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"

struct replay;

/*
 * Proof of what a run's schedule decided: a fresh one is told what it was told
 * then, and must say the same of every observation, and want the same steps:
 * new trials, promotions, stops of paused trials. Beside it goes the strategy,
 * which is told here, too.
 */
struct replay_schedule;

/* Where there is no schedule it proves nothing. Borrows the experiment.
 * had_resource: it had a budget of the resource at some time. NULL on error. */
struct replay_schedule *replay_schedule_create(
    const struct experiment *experiment, bool had_resource, struct err *err);
void replay_schedule_destroy(struct replay_schedule *proof); /* NULL is none */

/* The event that is read, before all that follows. */
void replay_schedule_look(struct replay_schedule *proof, struct replay *replay);

/* A trial of the record begins. Whether it may, and as the schedule wants. */
bool replay_schedule_begin(struct replay_schedule *proof,
                           const struct trial_row *row);

/* The setting of a trial that begins at the checkpoint of one with the setting
 * parent[space_count], into point. */
void replay_schedule_explore(const struct replay_schedule *proof,
                             int64_t number, const struct value *parent,
                             struct value *point);

/* Tells both. Whether the schedule says the same as the record. */
bool replay_schedule_tell(struct replay_schedule *proof,
                          struct strategy *strategy,
                          const struct feedback_item *item);

/* How many steps and decisions are proved. */
int64_t replay_schedule_count(const struct replay_schedule *proof);
/* What differs, after false. */
const char *replay_schedule_text(const struct replay_schedule *proof);

#endif
