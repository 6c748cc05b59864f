/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_FLOW_STATUS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_FLOW_STATUS_H

#include "orchestrator/engine/state.h"

/* How a workflow's steps are; NULL: it is an experiment. Valid until the next
 * call. */
const struct engine_steps *engine_steps_status(struct engine *engine);

#endif
