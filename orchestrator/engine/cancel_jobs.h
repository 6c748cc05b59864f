/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CANCEL_JOBS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CANCEL_JOBS_H

#include "orchestrator/engine/core/state.h"

/* Jobs that end alone, while the run goes on: their user ends them (`smtune
 * stop RUN --job`), or their step does (core/cancel_step.h). */

/* The job of that number has the wish WISH_CANCEL; what runs of it is told to
 * end. */
void engine_cancel_job(struct engine *engine, int64_t number);

/* In the open transaction: those that no executor has are over now. One that
 * waits for something else first is over when it is ready again. */
void engine_end_cancelled(struct engine *engine);

#endif
