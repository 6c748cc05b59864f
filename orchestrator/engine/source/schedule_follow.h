/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SCHEDULE_FOLLOW_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SCHEDULE_FOLLOW_H

#include "orchestrator/engine/core/source.h"

/* Slots of a search with a schedule (core/source.h): what its trials reach, and
 * what the schedule decides of that. */

bool schedule_begin_attempt(struct engine *engine, struct job *job);
void schedule_follow(struct engine *engine, struct job *job,
                     const struct metric_point *point);
void schedule_look(struct engine *engine, struct job *job);
int schedule_judge(struct engine *engine, struct job *job, struct err *err);
enum job_event schedule_end_attempt(struct engine *engine, struct job *job,
                                    enum job_event event,
                                    struct attempt_end *end);

#endif
