/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/submit.h"

#include <inttypes.h>

#include "executors/attempt/refusals.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/report.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/job/watch.h"

/*
 * What is in the record is offered to the executors in order. One that has no
 * room for a job may have room for a smaller one behind it: so many of these
 * are tried, but none that would take what the first one waits for.
 */

/* So many are looked at behind one that the executor has refused. */
enum { MAX_BEHIND = 64 };

static void hand_over(struct engine *engine, struct trial *trial)
{
    TAILQ_REMOVE(&engine->queues.committed, trial, link);
    engine->queues.committed_count--;
    trial->watch =
        watch_create(launch_spec(trial->launch)->directory,
                     trial->task->metrics, engine->reported, trial->from);
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, trial->number,
        "handed over attempt=%" PRId64 " directory=%s", trial->attempt_number,
        launch_spec(trial->launch)->directory);
    launch_destroy(trial->launch);
    trial->launch = NULL;
    trial->lacks = 0;
    engine_track_live(engine, trial);
    if (trial->is_promoted)
        engine_report_promoted(engine, trial);
}

/* Returns the one to try next, if any can start. */
static struct trial *start_committed(struct engine *engine, struct trial *trial,
                                     struct refusals *refusals)
{
    const struct attempt_spec *spec = launch_spec(trial->launch);
    struct trial *next = TAILQ_NEXT(trial, link);
    struct err err;

    if (refusals_hold_back(refusals, spec))
        return next;
    switch (executor_start(trial->executor, spec, &trial->lacks, &err)) {
    case START_OK:
        hand_over(engine, trial);
        return next;
    case START_FULL:
        return refusals_add(refusals, spec, trial->lacks) ? next : NULL;
    case START_ERROR:
        break;
    }
    TAILQ_REMOVE(&engine->queues.committed, trial, link);
    engine->queues.committed_count--;
    engine_settle_unstarted(engine, trial, &err);
    refusals->count = 0; /* that may have changed the list */
    return TAILQ_FIRST(&engine->queues.committed);
}

/* What one executor refuses says nothing of another. */
static void start_with(struct engine *engine, const struct executor *executor)
{
    struct refusals refusals = {.count = 0};
    struct trial *trial = TAILQ_FIRST(&engine->queues.committed);
    int behind = 0;

    while (trial != NULL && behind < MAX_BEHIND &&
           engine->wind_up.phase == PHASE_RUNNING && !engine_is_held(engine)) {
        if (trial->executor != executor) {
            trial = TAILQ_NEXT(trial, link);
            continue;
        }
        trial = start_committed(engine, trial, &refusals);
        behind += refusals.count > 0;
    }
}

void engine_start_committed(struct engine *engine)
{
    for (size_t i = 0; i < engine->executor_count; i++)
        start_with(engine, engine->executors[i]);
}

/* The folders come after the commit: it often takes them along, as it does on
 * ext4 where the log grows. Where it is written over, it does not. */
void engine_submit(struct engine *engine)
{
    struct err err;

    if (engine->queues.prepared_count > 0 &&
        workspaces_sync(engine->workspaces, &err) != 0) {
        engine_break(engine, &err);
        return;
    }
    TAILQ_CONCAT(&engine->queues.committed, &engine->queues.prepared, link);
    engine->queues.committed_count += engine->queues.prepared_count;
    engine->queues.prepared_count = 0;
    engine_start_committed(engine);
}
