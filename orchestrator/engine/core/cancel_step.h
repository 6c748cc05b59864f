/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_CANCEL_STEP_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_CANCEL_STEP_H

#include "orchestrator/engine/core/state.h"

/* Where a job is that no executor has. */
#define IDLE_LISTS(engine)                                                     \
    &(engine)->queues.ready, &(engine)->queues.waiting,                        \
        &(engine)->queues.asked, &(engine)->queues.held,                       \
        &(engine)->queues.requeued, &(engine)->queues.committed,               \
        &(engine)->queues.prepared

/* In the open transaction: all jobs of a step are to end (`fail_fast: kill`),
 * which is recorded as if their user had asked for it, with the step as the
 * asker. They do after the commit. */
void engine_cancel_step(struct engine *engine, int64_t step);

#endif
