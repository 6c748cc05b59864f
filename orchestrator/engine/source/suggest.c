/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/suggest.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "orchestrator/engine/core/log.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/reuse.h"
#include "orchestrator/search/reason.h"
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

static bool add_job(struct engine *engine, struct trial *trial,
                    const struct suggestion *suggestion)
{
    char *reason = describe_reason(engine, suggestion);
    struct job_new job = {
        .run = engine->run->id,
        .number = trial->number,
        .state = job_state_names[trial->state],
        .cursor = suggestion->cursor,
        .seen = engine->transaction.told_count,
        .reason = reason,
        .same_as = (int64_t)suggestion->same_as,
        .bracket = trial->bracket,
        .rung = trial->rung,
        .resource = trial->resource,
        .parent = trial->parent,
        .step = -1,
        .enqueued = (int64_t)suggestion->wish,
        .params = trial->point,
        .param_count = space_count(engine->experiment->space),
        .time_ms = clock_wall_ms(),
    };
    struct err err;
    bool added = engine_begin(engine);

    if (added && store_add_job(engine->store, &job, &trial->job, &err) != 0) {
        engine_break(engine, &err);
        added = false;
    }
    free(reason);
    return added;
}

/* A trial that the record has now goes into the ready list, or takes over an
 * earlier one's result. */
static bool admit(struct engine *engine, struct trial *trial, int64_t same_as)
{
    engine->tally.suggested++;
    engine_log_change(engine, trial, EVENT_SUGGESTED, NULL);
    if (engine->convergence != NULL)
        convergence_ask(engine->convergence, (uint64_t)trial->number,
                        trial->point);
    if (same_as == 0) {
        engine->wind_up.reused_in_row = 0;
        TAILQ_INSERT_TAIL(&engine->queues.ready, trial, link);
        return true;
    }
    engine->wind_up.reused_in_row++;
    if (engine_reuse(engine, trial, same_as))
        return true;
    trial_destroy(trial);
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
static enum ask_result choose(struct engine *engine, struct trial *trial,
                              const struct value *parent,
                              struct suggestion *suggestion, struct err *err)
{
    uint64_t number = (uint64_t)trial->number;

    if (parent == NULL)
        return strategy_ask(engine->strategy, number, trial->point, suggestion,
                            err);
    scheduler_explore(engine->scheduler, number, parent, trial->point);
    strategy_accept(engine->strategy, number, trial->point, suggestion);
    return ASK_OK;
}

/* What the schedule says of the trial. */
static void assign(struct engine *engine, struct trial *trial,
                   const struct assignment *assignment)
{
    trial->is_scheduled = true;
    trial->resource = (int64_t)assignment->resource;
    trial->bracket = (int64_t)assignment->bracket;
    trial->rung = (int64_t)assignment->rung;
    trial->parent = (int64_t)assignment->trial;
    scheduler_assign(engine->scheduler, (uint64_t)trial->number, assignment);
}

struct trial *engine_suggest(struct engine *engine,
                             const struct assignment *assignment,
                             const struct value *parent)
{
    struct trial *trial;
    struct suggestion suggestion;
    struct err err;
    enum ask_result result;

    if (!engine_may_suggest(engine))
        return NULL;
    trial = engine_create_trial(engine, engine->tally.suggested + 1);
    result = choose(engine, trial, parent, &suggestion, &err);
    if (result == ASK_OK) {
        if (assignment != NULL)
            assign(engine, trial, assignment);
        if (add_job(engine, trial, &suggestion))
            return admit(engine, trial, (int64_t)suggestion.same_as) ? trial
                                                                     : NULL;
    }
    if (result == ASK_ERROR)
        engine_break(engine, &err);
    engine->wind_up.is_exhausted = result == ASK_EXHAUSTED;
    trial_destroy(trial);
    return NULL;
}
