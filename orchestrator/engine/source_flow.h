/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_H

#include "orchestrator/engine/state.h"
#include "orchestrator/run/reopen_steps.h"

/* What is next in a workflow. */

/* Takes one step that the workflow wants next. False when there is none before
 * others have ended. */
bool engine_steps_next(struct engine *engine);
/* In the open transaction: jobs of it have been put back. */
void engine_steps_reopen(struct engine *engine,
                         const struct reopen_steps *reopened);
/* The run ends: so do steps that have not come to theirs, some of them a turn.
 * False when there are no more. */
bool engine_steps_close(struct engine *engine);
/* The run is over: whether it failed, and why. */
void engine_steps_conclude(struct engine *engine);

#endif
