/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_STATUS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_STATUS_H

#include "orchestrator/engine/core/state.h"

/* How the steps of a workflow are. Valid until the next call. */
const struct engine_steps *flow_status(struct engine *engine);

#endif
