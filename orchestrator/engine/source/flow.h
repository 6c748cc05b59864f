/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FLOW_H

#include "orchestrator/engine/core/source.h"

/* A workflow: its flow (workflows/flow.h) decides which step goes on. */
extern const struct source source_flow;

#endif
