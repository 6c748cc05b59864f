/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_STARTED_H
#define SMTUNE_ORCHESTRATOR_ENGINE_STARTED_H

#include "orchestrator/engine/core/state.h"

/* Events of executors: an attempt waits in a queue, or has started. */
void engine_on_queued(void *user, int64_t attempt, const char *handle);
void engine_on_started(void *user, int64_t attempt,
                       const struct attempt_place *place);

#endif
