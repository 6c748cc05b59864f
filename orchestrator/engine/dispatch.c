/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/dispatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "orchestrator/engine/cancel_jobs.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/engine/turn.h"

/*
 * How many attempts there are at once, and which job is next: a ready one, else
 * what the source begins (core/source.h). A job is prepared in the open
 * transaction; it starts after the commit (submit.c).
 */

/* With trials of a millisecond, attempts are prepared this far ahead, so that
 * neither a commit nor the way between processes is ever waited for. */
enum { AHEAD_MS = 40, MAX_AHEAD = 64 };

/* Where thousands may run, the first ones start while the others are still
 * being prepared, and the loop sees to what else is due. */
enum { DISPATCH_MS = 10 };

/* How many attempts there may be at once, those ahead of their turn included.
 * A strategy that learns is never asked before it has to be; and the executor
 * keeps to `parallel` only among what it has started itself. */
static int64_t wanted(const struct engine *engine)
{
    double ahead;

    if (!engine->looks_ahead || engine->queues.adopted_count > 0 ||
        isnan(engine->clocks.mean_attempt_ms))
        return engine->parallel;
    ahead = floor(AHEAD_MS / (engine->clocks.mean_attempt_ms + 0.5));
    return engine->parallel * (1 + (int64_t)fmin(ahead, MAX_AHEAD));
}

static void wake_due(struct engine *engine)
{
    int64_t now_ms = clock_monotonic_ms();
    struct job *job;

    while ((job = TAILQ_FIRST(&engine->queues.waiting)) != NULL &&
           job->due_ms <= now_ms) {
        if (!engine_change_trial(engine, job, EVENT_DUE, NULL))
            return;
        TAILQ_REMOVE(&engine->queues.waiting, job, link);
        TAILQ_INSERT_TAIL(&engine->queues.ready, job, link);
    }
}

static bool add_attempt(struct engine *engine, struct job *job)
{
    char *directory = workspace_attempt_directory(
        engine->workspaces, job->number, job->attempt_number + 1);
    struct attempt_new attempt = {
        .run = engine->run->id,
        .job = job->id,
        .number = job->attempt_number + 1,
        .directory = directory + strlen(store_directory(engine->store)) + 1,
        .resource = job->resource,
        .resource_from = job->from,
        .cache_key = job->cache_key,
        .time_ms = clock_wall_ms(),
    };
    struct err err;
    bool added = engine_begin(engine);

    if (added &&
        store_add_attempt(engine->store, &attempt, &job->attempt, &err) != 0) {
        engine_break(engine, &err);
        added = false;
    }
    if (added)
        job->attempt_number++;
    free(directory);
    return added;
}

/* A ready trial gets an attempt, in the open transaction, unless it waits for
 * something else first. */
static bool prepare(struct engine *engine, struct job *job)
{
    struct err err;

    if (!engine->source->begin_attempt(engine, job))
        return true;
    if (!add_attempt(engine, job))
        return false;
    job->launch = engine->source->launch(engine, job, &err);
    if (job->launch == NULL && err.kind == ERR_FAILED) {
        engine_break(engine, &err);
        return false;
    }
    TAILQ_REMOVE(&engine->queues.ready, job, link);
    if (job->launch == NULL) {
        engine_settle_unstarted(engine, job, &err);
        return true;
    }
    TAILQ_INSERT_TAIL(&engine->queues.prepared, job, link);
    engine->queues.prepared_count++;
    return true;
}

/* Trials that start again after the next commit: they come before new ones. */
static int64_t count_returning(const struct engine *engine)
{
    const struct job *job;
    int64_t count = 0;

    TAILQ_FOREACH(job, &engine->queues.settled, link)
    {
        if (job->state == JOB_READY)
            count++;
    }
    return count;
}

void engine_dispatch(struct engine *engine)
{
    int64_t returning = count_returning(engine);
    int64_t until_ms = clock_monotonic_ms() + DISPATCH_MS;

    engine->queues.has_more_to_dispatch = false;
    if (engine->wind_up.phase != PHASE_RUNNING)
        return;
    wake_due(engine);
    engine_end_cancelled(engine);
    while (engine->wind_up.phase == PHASE_RUNNING && !engine_is_held(engine) &&
           engine_active(engine) + returning < wanted(engine)) {
        struct job *first = TAILQ_FIRST(&engine->queues.ready);

        if (!(first != NULL ? prepare(engine, first)
                            : engine->source->next(engine)))
            return;
        engine_check_budget(engine); /* a step of the schedule is a result */
        engine->queues.has_more_to_dispatch = clock_monotonic_ms() >= until_ms;
        if (engine->queues.has_more_to_dispatch)
            return;
    }
}
