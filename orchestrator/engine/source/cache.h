/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_CACHE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_CACHE_H

#include "orchestrator/engine/core/state.h"

/* Jobs whose step has `cache`. */

/* A ready job goes to those that are asked for; false where it is to start. */
bool engine_cache_ask(struct engine *engine, struct job *job);
/* Jobs that are asked for are ready ones again. */
void engine_cache_give_up(struct engine *engine);
/* Files of a job that has ended well are hashed for others to take: its end
 * waits until its `seal` is SEAL_DONE. False where it need not wait. */
bool engine_cache_seal(struct engine *engine, struct job *job);

#endif
