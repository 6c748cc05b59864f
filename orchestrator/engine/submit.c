/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/submit.h"

#include <inttypes.h>

#include "executors/attempt/backlog.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/report.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/job/metric_files.h"

/*
 * What is in the record is offered to the executors in order. One that has no
 * room for a job may have room for a smaller one behind it: so many of these
 * are tried, but none that would take what the first one waits for. A cancelled
 * one is left to engine_end_cancelled().
 */

/* So many are looked at behind one that the executor has refused. */
enum { MAX_BEHIND = 64 };

static void hand_over(struct engine *engine, struct job *job)
{
    TAILQ_REMOVE(&engine->queues.committed, job, link);
    engine->queues.committed_count--;
    job->metric_files =
        metric_files_create(launch_spec(job->launch)->directory,
                            job->spec->metrics, engine->reported, job->from);
    engine_reserve_metrics(engine, job);
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, job->number,
        "handed over attempt=%" PRId64 " directory=%s", job->attempt_number,
        launch_spec(job->launch)->directory);
    launch_destroy(job->launch);
    job->launch = NULL;
    job->lacks = 0;
    engine_track_live(engine, job);
    if (job->is_promoted)
        engine_report_promoted(engine, job);
}

/* Returns the one to try next, if any can start. */
static struct job *start_committed(struct engine *engine, struct job *job,
                                   struct backlog *backlog)
{
    const struct attempt_spec *spec = launch_spec(job->launch);
    struct job *next = TAILQ_NEXT(job, link);
    struct err err;

    if (backlog_hold_back(backlog, spec))
        return next;
    switch (executor_start(job->executor, spec, &job->lacks, &err)) {
    case START_OK:
        hand_over(engine, job);
        return next;
    case START_FULL:
        return backlog_add(backlog, spec, job->lacks) ? next : NULL;
    case START_ERROR:
        break;
    }
    TAILQ_REMOVE(&engine->queues.committed, job, link);
    engine->queues.committed_count--;
    engine_settle_unstarted(engine, job, &err);
    backlog->count = 0; /* that may have changed the list */
    return TAILQ_FIRST(&engine->queues.committed);
}

/* What one executor refuses says nothing of another. */
static void start_with(struct engine *engine, const struct executor *executor)
{
    struct backlog backlog = {.count = 0};
    struct job *job = TAILQ_FIRST(&engine->queues.committed);
    int behind = 0;

    while (job != NULL && behind < MAX_BEHIND &&
           engine->wind_up.phase == PHASE_RUNNING && !engine_is_held(engine)) {
        if (job->executor != executor || job->wish == WISH_CANCEL) {
            job = TAILQ_NEXT(job, link);
            continue;
        }
        job = start_committed(engine, job, &backlog);
        behind += backlog.count > 0;
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
