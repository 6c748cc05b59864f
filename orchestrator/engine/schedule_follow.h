/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SCHEDULE_FOLLOW_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SCHEDULE_FOLLOW_H

#include "orchestrator/engine/state.h"

/* What trials of a run with a schedule reach, and what it decides of that. */

/* An attempt is about to begin: where it goes on from. */
void engine_schedule_begin(struct engine *engine, struct trial *trial);
/* A point of a curve has come; false: it lies beyond what the trial was given,
 * and counts for nothing. Then, once it is taken in, what follows from it. */
bool engine_schedule_follow(struct engine *engine, struct trial *trial,
                            const char *name, int64_t step);
void engine_schedule_decide(struct engine *engine, struct trial *trial);
/* A point of a curve alone, without what follows from it. */
void engine_schedule_reach(const struct engine *engine, struct trial *trial,
                           const char *name, int64_t step);
/* After a commit: what the schedule has given up is told to end. */
void engine_schedule_enforce(struct engine *engine);
/* An attempt has ended as the event says: what it used; and, once that is in
 * the record, what its schedule makes of it. */
int64_t engine_schedule_used(const struct engine *engine, struct trial *trial,
                             enum job_event event);
enum job_event engine_schedule_end(struct engine *engine, struct trial *trial,
                                   enum job_event event);

#endif
