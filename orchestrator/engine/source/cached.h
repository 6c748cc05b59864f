/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_CACHED_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_CACHED_H

#include "orchestrator/engine/core/state.h"

/* What becomes of a job that the cache has answered. */

/* A job that is in no list is over, with the result of another one, from the
 * store. */
void engine_take_result(struct engine *engine, struct job *job, int64_t from,
                        const json_t *outputs);
/* Why a job has to run, which it takes over, as cache_ask_why(). */
void engine_note_miss(struct engine *engine, struct job *job, char *why);

#endif
