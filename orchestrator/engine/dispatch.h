/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_DISPATCH_H
#define SMTUNE_ORCHESTRATOR_ENGINE_DISPATCH_H

#include "orchestrator/engine/core/state.h"

/* Wakes retries that are due, begins and prepares as many as may run: for a
 * while, and where that was not enough, has_more_to_dispatch. */
void engine_dispatch(struct engine *engine);

#endif
