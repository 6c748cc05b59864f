/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_ENGINE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_ENGINE_H

#include <stdbool.h>

#include "base/err.h"
#include "orchestrator/engine/core/events.h"
#include "orchestrator/run/run.h"

/*
 * The engine: asks the strategy, starts attempts, reads what they say, decides
 * what their ends mean, and keeps the record. It owns the only event loop of
 * the process and knows nothing of terminals.
 */

/*
 * Runs an open run (run.h) until its budget is used or it is told to stop:
 * SIGINT once lets running trials end, twice ends them, three times kills
 * them; SIGTERM ends them at once. With stop_at_once (of a run whose engine
 * died) whatever still runs is ended, and nothing new started.
 * -1 when it could not go on (the record is as of the last commit, and the run
 * can be resumed).
 */
int engine_run(struct run *run, const struct engine_events *events,
               bool stop_at_once, struct engine_result *result,
               struct err *err);

#endif
