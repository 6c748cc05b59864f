/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_TEMPS_H
#define SMTUNE_ORCHESTRATOR_STEPS_TEMPS_H

#include <stdbool.h>
#include <stddef.h>

#include "orchestrator/spec/workflow/workflow.h"

/*
 * When outputs with `temp: true` are needed no more. A step is *settled* when
 * it has succeeded with all of its copies, or was skipped, and all that it
 * needs is settled: then no retry of a failure can start it again. The outputs
 * of a settled step are due once all its users are settled: the steps that need
 * it, and those that read its outputs. A step that is final is settled only
 * when all steps that are none are (workflow_mark_users() has the users).
 *
 * It follows from the flow alone, so a replay proves each removal.
 */
struct temps;

/* Both are borrowed. NULL: no step has such outputs; then the others may be
 * called all the same. */
struct temps *temps_create(const struct workflow *workflow,
                           const struct flow *flow);
void temps_destroy(struct temps *temps);

/* The step has ended, or was skipped, in the flow. */
void temps_ended(struct temps *temps, size_t step);
/* It was skipped because the run ended, so it may be needed yet. */
void temps_cut_off(struct temps *temps, size_t step);
/* Any number of steps are not over any more, or the flow was told a record:
 * everything is found anew at the next question. */
void temps_look_again(struct temps *temps);

/* The next step whose outputs are due since it was asked last. False: there is
 * none. */
bool temps_next(struct temps *temps, size_t *step);
/* Whether there is one. */
bool temps_has_next(struct temps *temps);
/* Whether those of a step are due. */
bool temps_are_due(struct temps *temps, size_t step);
/* Why they are not: the first user, or step before one, that is not settled;
 * SIZE_MAX: they are due. */
size_t temps_wait_for(struct temps *temps, size_t step);
/* As workflow_mark_users(). */
void temps_mark_users(const struct temps *temps, size_t step, bool *users);

#endif
