/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/cancel_jobs.h"

#include <stdio.h>

#include "base/compiler.h"
#include "orchestrator/engine/core/announce.h"
#include "orchestrator/engine/core/cancel_step.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/settle.h"

/*
 * That a job is to end is in the record first (run/cancel_jobs.h), so an engine
 * that takes up the run gives it the same wish. A live one ends as its executor
 * reports it; the others end here, once a turn. Where the end of an attempt is
 * known but not in the record yet, the job is over with it, and is cancelled if
 * it would else start again (settle.c). One that has failed by itself before it
 * was told to end has failed.
 */

/* It has no attempt under way. */
static void end_idle(struct engine *engine, struct job *job)
{
    job->again[0] = '\0';
    job->end = (struct attempt_exit){.cause = CAUSE_CANCELLED, .exit_code = -1};
    snprintf(job->end.text, sizeof(job->end.text), "stopped by its %s",
             job->is_ended_by_step ? "step" : "user");
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    if (!engine_change_trial(engine, job, EVENT_CANCELLED, NULL))
        return;
    engine_tally_ended(engine, job, false);
    engine_announce_ended(engine, job);
}

/* It has an attempt that no executor has been given yet. */
static void end_unstarted(struct engine *engine, struct job *job)
{
    engine_settle_unstarted(engine, job, NULL);
}

/* count: of the list, or NULL. */
static void end_in(struct engine *engine, struct job_list *list, int64_t *count,
                   void (*end)(struct engine *engine, struct job *job))
{
    struct job *job, *next;

    for (job = TAILQ_FIRST(list); job != NULL; job = next) {
        next = TAILQ_NEXT(job, link);
        if (job->wish != WISH_CANCEL || engine->transaction.is_broken)
            continue;
        TAILQ_REMOVE(list, job, link);
        if (count != NULL)
            (*count)--;
        engine->queues.cancel_count--;
        end(engine, job);
    }
}

static void take_back_held(struct engine *engine)
{
    struct job *job, *next;

    for (job = TAILQ_FIRST(&engine->queues.held); job != NULL; job = next) {
        next = TAILQ_NEXT(job, link);
        if (job->wish != WISH_CANCEL)
            continue;
        engine_leave_held(engine, job);
        TAILQ_INSERT_TAIL(&engine->queues.ready, job, link);
    }
}

void engine_end_cancelled(struct engine *engine)
{
    struct engine_queues *queues = &engine->queues;

    if (queues->cancel_count == 0)
        return;
    end_in(engine, &queues->prepared, &queues->prepared_count, end_unstarted);
    end_in(engine, &queues->committed, &queues->committed_count, end_unstarted);
    take_back_held(engine);
    end_in(engine, &queues->ready, NULL, end_idle);
    end_in(engine, &queues->waiting, NULL, end_idle);
}

static struct job *find_in(const struct job_list *list, int64_t number)
{
    struct job *job = TAILQ_FIRST(list);

    while (job != NULL && job->number != number)
        job = TAILQ_NEXT(job, link);
    return job;
}

void engine_cancel_job(struct engine *engine, int64_t number)
{
    const struct job_list *const idle[] = {IDLE_LISTS(engine)};
    struct job *job = find_in(&engine->queues.live, number);

    if (job != NULL && job->wish != WISH_GIVE_UP) {
        job->wish = WISH_CANCEL;
        job->is_ended_by_step = false;
        if (!job->has_ended) {
            job->is_told_to_end = true;
            executor_cancel(job->executor, job->attempt, CANCEL_TERM);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
        job = find_in(idle[i], number);
        if (job == NULL)
            continue;
        job->is_ended_by_step = false; /* its user asked last */
        if (job->wish == WISH_CANCEL)
            continue;
        job->wish = WISH_CANCEL;
        engine->queues.cancel_count++;
    }
}
