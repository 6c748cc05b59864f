/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_PAUSE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_PAUSE_H

#include "orchestrator/engine/core/state.h"

/* The run's own time: what is spent on it while it is not paused. */

bool engine_is_paused(const struct engine *engine);
/* For how long the session was paused, in milliseconds. */
int64_t engine_paused_ms(const struct engine *engine);
/* Of the run, all engines together, in milliseconds: not what was paused. */
int64_t engine_elapsed_ms(const struct engine *engine);

#endif
