/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_QUEUES_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_QUEUES_H

#include "orchestrator/engine/core/state.h"

/* Which list a job is in, and how many are where. Nothing here changes a job's
 * state or the record. */

/* All empty. */
void engine_init_queues(struct engine *engine);
/* Destroys the jobs in all of them. */
void engine_clear_queues(struct engine *engine);

/* Attempts that are prepared, committed or live, and jobs that are asked for.
 */
int64_t engine_active(const struct engine *engine);

/* A trial that is in no list, and not in the record yet. */
struct job *engine_create_trial(struct engine *engine, int64_t number);
/* The same for a job of a workflow's step. */
struct job *engine_create_job(struct engine *engine, size_t step,
                              int64_t number);

/* A job that is in no list and has a due time waits for it. */
void engine_wait(struct engine *engine, struct job *job);

/* A ready job goes to those that are asked for; comes back as the first that is
 * ready; or leaves them for no list. */
void engine_set_aside(struct engine *engine, struct job *job);
void engine_take_back(struct engine *engine, struct job *job);
void engine_leave_asked(struct engine *engine, struct job *job);
/* A held job is in no list. */
void engine_leave_held(struct engine *engine, struct job *job);

/* A job that is in no list is live; is looked for by its attempt's id (NULL: no
 * live one has it); and is in no list again. */
void engine_track_live(struct engine *engine, struct job *job);
struct job *engine_find_live(const struct engine *engine, int64_t attempt);
void engine_untrack_live(struct engine *engine, struct job *job);
/* A live one is read next, or after all others. */
void engine_read_first(struct engine *engine, struct job *job);
void engine_read_last(struct engine *engine, struct job *job);
/* Whether the first live one is to be read at once. */
bool engine_has_more(const struct engine *engine);
/* A live one waits in no queue of its executor's any more. */
void engine_dequeue(struct engine *engine, struct job *job);

#endif
