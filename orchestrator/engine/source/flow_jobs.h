/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_JOBS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_JOBS_H

#include "orchestrator/engine/core/source.h"

/* Jobs of a workflow's steps. */

/* A copy of a step becomes a job: ready, or over at once. False when the engine
 * broke. */
bool flow_start_job(struct engine *engine, size_t step, int64_t copy);
/* A job that is in no list, and has had no attempt, is over. False when the
 * engine broke. */
bool flow_end_at_once(struct engine *engine, struct job *job,
                      enum job_event event, const char *text);
/* The text of one whose files were there before. */
#define FLOW_ACCEPTED "its files were accepted as made (--touch)"
/* Takes what a job, which has had no attempt, would have made; its temporary
 * files may be gone. -1 where something is missing. */
int flow_read_files(struct engine *engine, struct job *job, struct err *err);
/* Its attempt has ended well: takes what it made; where something is missing it
 * has not ended well. -1 where that cannot be read now. */
int flow_finish_job(struct engine *engine, struct job *job, struct err *err);
/* Slot `ended`: another round follows, or a job of its step that was put back.
 */
void flow_job_ended(struct engine *engine, struct job *job,
                    const struct feedback_item *item);

#endif
