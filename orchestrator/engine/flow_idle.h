/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_FLOW_IDLE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_FLOW_IDLE_H

#include "orchestrator/engine/state.h"

/* Whether it is that no step of a workflow can start a job; in words, and
 * *about is a number that differs when these do. */
bool engine_idle_steps(const struct engine *engine, int64_t *about,
                       struct buf *out);

#endif
