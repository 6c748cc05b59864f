/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_CHAIN_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_CHAIN_H

#include "orchestrator/engine/core/state.h"

/* Links of chains (`continue`) that are queued ahead of their turn. */

/* Adds to the launch of a job's attempt the links that shall be queued behind
 * it. False with err where one cannot be made. */
bool engine_add_reserves(struct engine *engine, const struct job *job,
                         struct launch *launch, struct err *err);
/* Its last attempt has ended so: whether its next one is among the reserves of
 * that. */
void engine_follow_reserves(struct job *job, const struct attempt_exit *end);
/* Whether the link behind its last attempt has begun by itself. */
bool engine_is_overtaken(const struct engine *engine, const struct job *job);

#endif
