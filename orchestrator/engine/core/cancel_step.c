/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/cancel_step.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "orchestrator/engine/core/transaction.h"

/* Whether the job of a step is now to end. */
static bool ask(struct engine *engine, struct job *job, int64_t step)
{
    struct err err;

    if (job->step != step || job->wish != WISH_NONE || job_is_final(job->state))
        return false;
    if (!engine_begin(engine) ||
        store_ask_cancel(engine->store,
                         &(struct cancel_request){.run = engine->run->id,
                                                  .job = job->id,
                                                  .asker = CANCEL_BY_STEP,
                                                  .time_ms = clock_wall_ms()},
                         &err) != 0) {
        engine_break(engine, &err);
        return false;
    }
    job->wish = WISH_CANCEL;
    job->is_ended_by_step = true;
    return true;
}

void engine_cancel_step(struct engine *engine, int64_t step)
{
    struct job_list *const idle[] = {IDLE_LISTS(engine)};
    struct job *job;

    for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
        TAILQ_FOREACH(job, idle[i], link)
        {
            engine->queues.cancel_count += ask(engine, job, step);
        }
    }
    TAILQ_FOREACH(job, &engine->queues.live, link)
    {
        if (ask(engine, job, step) && !job->has_ended)
            engine->queues.given_up_count++;
    }
    TAILQ_FOREACH(job, &engine->queues.settled, link)
    {
        ask(engine, job, step); /* one that would start again */
    }
}
