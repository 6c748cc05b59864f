/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_IDLE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_IDLE_H

#include "orchestrator/engine/core/state.h"

/* Into the log, at the end of a turn: what it moved, and why nothing starts,
 * where that is another reason than the last time. */
void engine_log_turn(struct engine *engine);

#endif
