/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/requeue.h"

/*
 * Jobs of a workflow that their user put back. The flow takes each for one that
 * has started, so that nothing new starts in its place; here they wait until
 * their step's `parallel` has room for them. Pools are the executors' to keep.
 */

static bool has_room(const struct engine *engine, size_t step)
{
    int64_t parallel = engine->run->workflow->flow_steps[step].parallel;
    struct flow_counts counts;

    flow_count(engine->steps->flow, step, &counts);
    return parallel == 0 ||
           counts.started - engine->steps->now[step].requeued < parallel;
}

static void let_go(struct engine *engine, struct job *job)
{
    TAILQ_REMOVE(&engine->queues.requeued, job, link);
    engine->steps->now[job->step].requeued--;
    TAILQ_INSERT_TAIL(&engine->queues.ready, job, link);
}

void engine_requeue(struct engine *engine)
{
    struct job *job, *next;

    for (job = TAILQ_FIRST(&engine->queues.ready); job != NULL; job = next) {
        next = TAILQ_NEXT(job, link);
        if (!job->is_reopened)
            continue;
        TAILQ_REMOVE(&engine->queues.ready, job, link);
        TAILQ_INSERT_TAIL(&engine->queues.requeued, job, link);
        engine->steps->now[job->step].requeued++;
    }
    for (job = TAILQ_FIRST(&engine->queues.requeued); job != NULL; job = next) {
        next = TAILQ_NEXT(job, link);
        if (has_room(engine, (size_t)job->step))
            let_go(engine, job);
    }
}

void engine_requeue_next(struct engine *engine, size_t step)
{
    struct job *job = TAILQ_FIRST(&engine->queues.requeued);

    if (engine->steps->now[step].requeued == 0 || !has_room(engine, step))
        return;
    while ((size_t)job->step != step)
        job = TAILQ_NEXT(job, link);
    let_go(engine, job);
}

void engine_end_requeue(struct engine *engine)
{
    while (!TAILQ_EMPTY(&engine->queues.requeued))
        let_go(engine, TAILQ_FIRST(&engine->queues.requeued));
}
