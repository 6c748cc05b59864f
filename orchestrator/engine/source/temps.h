/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_TEMPS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_TEMPS_H

#include "orchestrator/engine/core/state.h"

/* Temporary outputs (orchestrator/steps/temps.h) are removed once it is
 * committed that nothing needs them. */

/* Begins with those that are due. Nothing may be uncommitted. */
void engine_remove_temps(struct engine *engine);
/* A temp_files_fn: records what is gone. */
void engine_on_temps_removed(void *owner, const struct temp_order *order);
/* -1 with ERR_BUSY while some are being removed: what is to run again might
 * need them. */
int engine_check_removals(const struct engine *engine, struct err *err);
/* The run is over but for them. True while it has to wait for some. */
bool engine_close_temps(struct engine *engine);

#endif
