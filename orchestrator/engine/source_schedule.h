/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SCHEDULE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SCHEDULE_H

#include "orchestrator/engine/state.h"

/* Takes one step that the schedule wants next. False when there is none before
 * others have ended. */
bool engine_schedule_next(struct engine *engine);
/* The run ends: so do trials that are paused, some of them a turn. */
void engine_schedule_close(struct engine *engine);

#endif
