/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/cancel_jobs.h"

#include <stdio.h>

#include "base/compiler.h"
#include "orchestrator/engine/core/announce.h"
#include "orchestrator/engine/core/cancel_step.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/settle.h"

/*
 * That a job is to end is in the record first (run/cancel_jobs.h), so an engine
 * that takes up the run gives it the same wish. A live one ends as its executor
 * reports it; the others end here, once a turn.
 */

/* It has no attempt under way. */
static void end_idle(struct engine *engine, struct job *job)
{
    job->again[0] = '\0';
    job->end = (struct attempt_exit){.cause = CAUSE_CANCELLED, .exit_code = -1};
    snprintf(job->end.text, sizeof(job->end.text), "stopped by its user");
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    if (!engine_change_trial(engine, job, EVENT_CANCELLED, NULL))
        return;
    engine_tally_ended(engine, job, false);
    engine_announce_ended(engine, job);
}

static void end_in(struct engine *engine, struct job_list *list)
{
    struct job *job, *next;

    for (job = TAILQ_FIRST(list); job != NULL; job = next) {
        next = TAILQ_NEXT(job, link);
        if (job->wish != WISH_CANCEL || engine->transaction.is_broken)
            continue;
        TAILQ_REMOVE(list, job, link);
        engine->queues.cancel_count--;
        end_idle(engine, job);
    }
}

/* Those with an attempt that no executor has been given yet. */
static void end_unstarted_in(struct engine *engine, struct job_list *list,
                             int64_t *count)
{
    struct job *job, *next;

    for (job = TAILQ_FIRST(list); job != NULL; job = next) {
        next = TAILQ_NEXT(job, link);
        if (job->wish != WISH_CANCEL || engine->transaction.is_broken)
            continue;
        TAILQ_REMOVE(list, job, link);
        (*count)--;
        engine->queues.cancel_count--;
        engine_settle_unstarted(engine, job, NULL);
    }
}

void engine_end_cancelled(struct engine *engine)
{
    struct engine_queues *queues = &engine->queues;

    if (queues->cancel_count == 0)
        return;
    end_unstarted_in(engine, &queues->prepared, &queues->prepared_count);
    end_unstarted_in(engine, &queues->committed, &queues->committed_count);
    end_in(engine, &queues->ready);
    end_in(engine, &queues->waiting);
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

    if (job != NULL && !job->has_ended && job->wish != WISH_GIVE_UP) {
        job->wish = WISH_CANCEL;
        job->is_told_to_end = true;
        executor_cancel(job->executor, job->attempt, CANCEL_TERM);
    }
    for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
        job = find_in(idle[i], number);
        if (job == NULL || job->wish == WISH_CANCEL)
            continue;
        job->wish = WISH_CANCEL;
        engine->queues.cancel_count++;
    }
}
