/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/suggest.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "orchestrator/engine/core/log.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/reuse.h"
#include "orchestrator/search/reason_json.h"
#include "strategies/gp/convergence.h"

/* What the strategy suggests, or the schedule derives from another trial,
 * becomes a row of the record and a trial in memory. */

/* After so many settings in a row that were tried before, there is nothing new
 * to be had from the strategy. */
enum { MAX_REUSED_IN_ROW = 100 };

/* NULL where there is nothing to say. */
static char *describe_reason(const struct engine *engine,
                             const struct suggestion *suggestion)
{
    bool maximize = engine->experiment->objectives[0].maximize;
    struct buf text = BUF_INIT;
    json_t *json;

    if (suggestion->reason.step == NULL)
        return NULL;
    json = reason_to_json(&suggestion->reason, maximize);
    json_print(json, &text);
    json_decref(json);
    return buf_take(&text);
}

static bool add_job(struct engine *engine, struct job *job,
                    const struct suggestion *suggestion)
{
    char *reason = describe_reason(engine, suggestion);
    struct job_new job_id = {
        .run = engine->run->id,
        .number = job->number,
        .state = job_state_names[job->state],
        .cursor = suggestion->cursor,
        .seen = engine->transaction.told_count,
        .reason = reason,
        .same_as = (int64_t)suggestion->same_as,
        .bracket = job->bracket,
        .rung = job->rung,
        .resource = job->resource,
        .parent = job->parent,
        .step = -1,
        .enqueued = (int64_t)suggestion->wish,
        .params = job->point,
        .param_count = space_count(engine->experiment->space),
        .time_ms = clock_wall_ms(),
    };
    struct err err;
    bool added = engine_begin(engine);

    if (added && store_add_job(engine->store, &job_id, &job->id, &err) != 0) {
        engine_break(engine, &err);
        added = false;
    }
    free(reason);
    return added;
}

/* A trial that the record has now goes into the ready list, or takes over an
 * earlier one's result. */
static bool admit(struct engine *engine, struct job *job, int64_t same_as)
{
    engine->tally.suggested++;
    engine_log_change(engine, job, EVENT_SUGGESTED, NULL);
    if (engine->convergence != NULL)
        convergence_ask(engine->convergence, (uint64_t)job->number, job->point);
    if (same_as == 0) {
        engine->wind_up.reused_in_row = 0;
        TAILQ_INSERT_TAIL(&engine->queues.ready, job, link);
        return true;
    }
    engine->wind_up.reused_in_row++;
    if (engine_reuse(engine, job, same_as))
        return true;
    job_destroy(job);
    return false;
}

bool engine_may_suggest(struct engine *engine)
{
    int64_t trials = engine->experiment->budget.trials;

    engine->wind_up.is_exhausted |=
        engine->wind_up.reused_in_row >= MAX_REUSED_IN_ROW;
    return !engine->wind_up.is_exhausted &&
           (trials == 0 || engine->tally.suggested < trials);
}

/* A setting for the trial. */
static enum ask_result choose(struct engine *engine, struct job *job,
                              const struct value *parent,
                              struct suggestion *suggestion, struct err *err)
{
    uint64_t number = (uint64_t)job->number;

    if (parent == NULL)
        return strategy_ask(engine->strategy, number, job->point, suggestion,
                            err);
    scheduler_explore(engine->scheduler, number, parent, job->point);
    strategy_accept(engine->strategy, number, job->point, suggestion);
    return ASK_OK;
}

/* What the schedule says of the trial. */
static void assign(struct engine *engine, struct job *job,
                   const struct assignment *assignment)
{
    job->is_scheduled = true;
    job->resource = (int64_t)assignment->resource;
    job->bracket = (int64_t)assignment->bracket;
    job->rung = (int64_t)assignment->rung;
    job->parent = (int64_t)assignment->trial;
    scheduler_assign(engine->scheduler, (uint64_t)job->number, assignment);
}

struct job *engine_suggest(struct engine *engine,
                           const struct assignment *assignment,
                           const struct value *parent)
{
    struct job *job;
    struct suggestion suggestion;
    struct err err;
    enum ask_result result;

    if (!engine_may_suggest(engine))
        return NULL;
    job = engine_create_trial(engine, engine->tally.suggested + 1);
    result = choose(engine, job, parent, &suggestion, &err);
    if (result == ASK_OK) {
        if (assignment != NULL)
            assign(engine, job, assignment);
        if (add_job(engine, job, &suggestion))
            return admit(engine, job, (int64_t)suggestion.same_as) ? job : NULL;
    }
    if (result == ASK_ERROR)
        engine_break(engine, &err);
    engine->wind_up.is_exhausted = result == ASK_EXHAUSTED;
    job_destroy(job);
    return NULL;
}
