/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_FLOW_JOBS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_FLOW_JOBS_H

#include "orchestrator/engine/state.h"

/* Jobs of a workflow's steps. */

/* A copy of a step becomes a job: ready, or over at once. False when the engine
 * broke. */
bool flow_start_job(struct engine *engine, size_t step, int64_t copy);
/* Its attempt has ended well: takes what it made; where something is missing it
 * has not ended well. -1 where that cannot be read now. */
int engine_steps_finish(struct engine *engine, struct trial *job,
                        struct err *err);
/* In the open transaction: a job has come to its end. */
void engine_steps_ended(struct engine *engine, struct trial *job);

#endif
