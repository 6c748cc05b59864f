/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RECOVER_FLOW_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RECOVER_FLOW_H

#include "orchestrator/engine/core/take_up.h"

/* Reads how far a workflow's steps are, and its jobs. */
int recover_flow(struct taking_up *taking_up);

#endif
