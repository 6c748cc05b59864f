/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/queues.h"

#include <search.h>
#include <stdlib.h>

/*
 * Lists and counts of jobs. The invariant is that of state.h: a job that is not
 * over is in one list, and the counts are the lengths of their lists. Live jobs
 * are in a tree by their attempt, too, because executors report by its id.
 */

void engine_init_queues(struct engine *engine)
{
    TAILQ_INIT(&engine->queues.ready);
    TAILQ_INIT(&engine->queues.requeued);
    TAILQ_INIT(&engine->queues.asked);
    TAILQ_INIT(&engine->queues.held);
    TAILQ_INIT(&engine->queues.waiting);
    TAILQ_INIT(&engine->queues.prepared);
    TAILQ_INIT(&engine->queues.committed);
    TAILQ_INIT(&engine->queues.live);
    TAILQ_INIT(&engine->queues.settled);
}

static void clear_list(struct job_list *list)
{
    struct job *job;

    while ((job = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, job, link);
        job_destroy(job);
    }
}

void engine_clear_queues(struct engine *engine)
{
    struct job *job;

    while ((job = TAILQ_FIRST(&engine->queues.live)) != NULL) {
        engine_untrack_live(engine, job);
        job_destroy(job);
    }
    clear_list(&engine->queues.ready);
    clear_list(&engine->queues.requeued);
    clear_list(&engine->queues.asked);
    clear_list(&engine->queues.held);
    clear_list(&engine->queues.waiting);
    clear_list(&engine->queues.prepared);
    clear_list(&engine->queues.committed);
    clear_list(&engine->queues.settled);
}

int64_t engine_active(const struct engine *engine)
{
    return engine->queues.prepared_count + engine->queues.committed_count +
           engine->queues.live_count + engine->queues.asked_count;
}

struct job *engine_create_trial(struct engine *engine, int64_t number)
{
    struct job *job =
        job_create(engine->experiment, &engine->experiment->task, number);

    job->executor = engine->executors[0];
    return job;
}

struct job *engine_create_job(struct engine *engine, size_t step,
                              int64_t number)
{
    const struct workflow *workflow = engine->run->workflow;
    const struct step *its = &workflow->steps[step];
    size_t executor = (size_t)(workflow_executor(workflow, its) - //
                               workflow->executors);
    struct job *job = job_create(engine->experiment, &its->task, number);

    job->step = (int64_t)step;
    job->link_rule = its->link.max > 0 ? &its->link : NULL;
    job->executor = engine->executors[executor];
    return job;
}

void engine_wait(struct engine *engine, struct job *job)
{
    struct job *before = TAILQ_LAST(&engine->queues.waiting, job_list);

    while (before != NULL && before->due_ms > job->due_ms)
        before = TAILQ_PREV(before, job_list, link);
    if (before != NULL)
        TAILQ_INSERT_AFTER(&engine->queues.waiting, before, job, link);
    else
        TAILQ_INSERT_HEAD(&engine->queues.waiting, job, link);
}

/* ---- set aside ---- */

void engine_leave_asked(struct engine *engine, struct job *job)
{
    TAILQ_REMOVE(&engine->queues.asked, job, link);
    engine->queues.asked_count--;
}

void engine_set_aside(struct engine *engine, struct job *job)
{
    TAILQ_REMOVE(&engine->queues.ready, job, link);
    TAILQ_INSERT_TAIL(&engine->queues.asked, job, link);
    engine->queues.asked_count++;
}

void engine_leave_held(struct engine *engine, struct job *job)
{
    TAILQ_REMOVE(&engine->queues.held, job, link);
    engine->steps->now[job->step].held--;
}

void engine_take_back(struct engine *engine, struct job *job)
{
    engine_leave_asked(engine, job);
    TAILQ_INSERT_HEAD(&engine->queues.ready, job, link);
}

/* ---- live ---- */

static int compare_attempts(const void *a, const void *b)
{
    int64_t left = ((const struct job *)a)->attempt;
    int64_t right = ((const struct job *)b)->attempt;

    return (left > right) - (left < right);
}

void engine_track_live(struct engine *engine, struct job *job)
{
    if (tsearch(job, &engine->queues.by_attempt, compare_attempts) == NULL)
        abort();
    TAILQ_INSERT_TAIL(&engine->queues.live, job, link);
    engine->queues.live_count++;
    engine->queues.adopted_count += job->is_adopted;
}

struct job *engine_find_live(const struct engine *engine, int64_t attempt)
{
    struct job key = {.attempt = attempt};
    void *found = tfind(&key, &engine->queues.by_attempt, compare_attempts);

    return found != NULL ? *(struct job **)found : NULL;
}

void engine_dequeue(struct engine *engine, struct job *job)
{
    engine->queues.queued_count -= job->is_queued;
    job->is_queued = false;
}

void engine_untrack_live(struct engine *engine, struct job *job)
{
    tdelete(job, &engine->queues.by_attempt, compare_attempts);
    TAILQ_REMOVE(&engine->queues.live, job, link);
    engine->queues.live_count--;
    engine->queues.adopted_count -= job->is_adopted;
    engine_dequeue(engine, job);
}

void engine_read_first(struct engine *engine, struct job *job)
{
    job->has_more = true;
    TAILQ_REMOVE(&engine->queues.live, job, link);
    TAILQ_INSERT_HEAD(&engine->queues.live, job, link);
}

void engine_read_last(struct engine *engine, struct job *job)
{
    job->has_more = false;
    TAILQ_REMOVE(&engine->queues.live, job, link);
    TAILQ_INSERT_TAIL(&engine->queues.live, job, link);
}

bool engine_has_more(const struct engine *engine)
{
    const struct job *first = TAILQ_FIRST(&engine->queues.live);

    return first != NULL && first->has_more;
}
