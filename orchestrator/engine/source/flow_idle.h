/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_IDLE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_IDLE_H

#include "orchestrator/engine/core/state.h"

/* Slot `is_idle`: no step of the workflow can start a job. */
bool flow_is_idle(const struct engine *engine, int64_t *about, struct buf *out);

#endif
