/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SCHEDULE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SCHEDULE_H

#include "orchestrator/engine/core/source.h"

/* A search with a schedule, which decides which trial goes on, and how far. */
extern const struct source source_schedule;

#endif
