/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_EXECUTORS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_EXECUTORS_H

#include "orchestrator/engine/core/state.h"

/* How many attempts at once: as the file has it, or the executors. */
int64_t engine_find_parallel(const struct run *run);
/* Opens the run's executors, whose events go to the engine's files. -1 with
 * err. */
int engine_open_executors(struct engine *engine, struct err *err);

#endif
