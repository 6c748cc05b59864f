/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_STEPS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_STEPS_H

#include "orchestrator/engine/core/state.h"

/* Changes of a step's state: in the record, and in the flow. All of them return
 * false when the engine broke. */

/* Asks its condition: it begins, with a row for its matrix, or is skipped, or
 * has failed. */
bool flow_begin_step(struct engine *engine, size_t step);
bool flow_skip_step(struct engine *engine, size_t step, const char *reason);
/* Its rule is not fulfilled, because of one that it needs, or (FLOW_NO_STEP)
 * because none has failed. */
bool flow_skip_by_rule(struct engine *engine, size_t step, size_t because);
bool flow_end_step(struct engine *engine, size_t step, enum flow_state state);

#endif
