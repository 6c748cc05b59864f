/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_REQUEUE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_REQUEUE_H

#include "orchestrator/engine/core/state.h"

/* Jobs of a workflow that their user put back. */

/* What was put back and is ready waits where its step has no room for it. */
void engine_requeue(struct engine *engine);
/* A job of the step is over: the next one takes its place. */
void engine_requeue_next(struct engine *engine, size_t step);
/* None waits any more: they are among those that are ready. */
void engine_end_requeue(struct engine *engine);

#endif
