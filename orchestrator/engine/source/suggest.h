/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SUGGEST_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SUGGEST_H

#include "orchestrator/engine/core/state.h"

/* New trials. */

/* Whether there may be another new one. */
bool engine_may_suggest(struct engine *engine);
/* A new trial, as its schedule (NULL: there is none) assigns it: what the
 * strategy suggests, or a step away from a parent's point. It is ready, or has
 * ended with an earlier trial's results; it stays the engine's. NULL when there
 * is none to be had, or the engine broke. */
struct job *engine_suggest(struct engine *engine,
                           const struct assignment *assignment,
                           const struct value *parent);

#endif
