/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/engine/core/take_up.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/feedback.h"
#include "orchestrator/engine/source/recover_search.h"
#include "orchestrator/engine/source/rested.h"
#include "orchestrator/engine/source/schedule_follow.h"
#include "orchestrator/engine/source/search.h"
#include "orchestrator/engine/source/suggest.h"
#include "orchestrator/search/feedback.h"

/*
 * Where a schedule decides which trial goes on, and how far. It is asked when a
 * slot is free. Paused trials are in the record alone.
 */

enum { STOPPED_A_TURN = 256 };

static int promote(struct engine *engine, const struct assignment *next,
                   const struct rested *rested, struct err *err)
{
    const struct feedback_item item = {
        .kind = FEEDBACK_PROMOTION,
        .number = rested->number,
        .place = engine->transaction.told_count + 1,
        .resource = (int64_t)next->resource,
        .bracket = (int64_t)next->bracket,
        .rung = (int64_t)next->rung,
    };
    const struct job_promotion promotion = {
        .run = engine->run->id,
        .job = rested->job,
        .at_resource = rested->resource,
        .resource = (int64_t)next->resource,
        .rung = (int64_t)next->rung,
        .told = item.place,
        .state = job_state_names[JOB_READY],
        .event = job_event_names[EVENT_PROMOTED],
        .reason = next->reason,
        .time_ms = clock_wall_ms(),
    };

    struct job *job;

    if (store_promote_job(engine->store, &promotion, err) != 0)
        return -1;
    engine_count(engine, &item);
    feedback_give(engine, &item, NULL);
    engine->queues.paused_trials--;
    job = engine_take_up(engine, rested->number, JOB_READY, err);
    if (job == NULL)
        return -1;
    job->is_promoted = true;
    return 0;
}

/* It is over, with what it had reached. */
static int stop(struct engine *engine, const struct assignment *next,
                const struct rested *rested, struct err *err)
{
    struct job *job;

    job = engine_take_up(engine, rested->number, JOB_PAUSED, err);
    if (job == NULL)
        return -1;
    TAILQ_REMOVE(&engine->queues.ready, job, link);
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    snprintf(job->end.text, sizeof(job->end.text), "%s", next->reason);
    engine->queues.paused_trials--;
    if (engine_change_trial(engine, job, EVENT_STOPPED, NULL))
        engine_tally_ended(engine, job, true);
    return 0;
}

static int add_clone(struct engine *engine, const struct assignment *next,
                     const struct rested *rested, struct err *err)
{
    struct job *job = engine_suggest(engine, next, rested->point);

    if (job == NULL || job->state != JOB_READY)
        return 0; /* or it has ended, with the result of an equal one */
    job->paused_at = rested->resource;
    return workspace_copy_checkpoint(engine->workspaces, rested->number,
                                     job->number, err);
}

static int add_new(struct engine *engine, const struct assignment *next,
                   const struct rested *rested, struct err *err)
{
    (void)rested, (void)err;
    engine_suggest(engine, next, NULL);
    return 0;
}

/* What is done with the trial that the schedule names, or with a new one. */
typedef int (*next_fn)(struct engine *engine, const struct assignment *next,
                       const struct rested *rested, struct err *err);

static const next_fn steps[] = {
    [NEXT_NEW] = add_new,
    [NEXT_CLONE] = add_clone,
    [NEXT_PROMOTE] = promote,
    [NEXT_STOP] = stop,
};

/* What trials that have a place may still use. */
static int64_t outstanding(const struct engine *engine)
{
    const struct job_list *const lists[] = {
        &engine->queues.ready, &engine->queues.prepared,
        &engine->queues.committed, &engine->queues.live,
        &engine->queues.waiting};
    int64_t sum = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct job *job;

        TAILQ_FOREACH(job, lists[i], link)
        {
            sum += job->resource - job->from;
        }
    }
    return sum;
}

/* What the step will use; a trial that rests goes on from its checkpoint. */
static int64_t needed(const struct engine *engine,
                      const struct assignment *next,
                      const struct rested *rested)
{
    if (next->kind == NEXT_NONE || next->kind == NEXT_STOP)
        return 0;
    return (int64_t)next->resource -
           (engine->experiment->task.has_checkpoints ? rested->resource : 0);
}

/* Finds the trial that the step gives more to, or clones; whether the budget
 * has as much as it needs. -1 with err. */
static int fits(struct engine *engine, const struct assignment *next,
                struct rested *rested, struct err *err)
{
    const struct budget *budget = &engine->experiment->budget;

    rested->number = (int64_t)next->trial;
    rested->resource = 0;
    if (next->trial != 0 && next->kind != NEXT_STOP &&
        rested_find(rested, err) != 0)
        return -1;
    return budget->resource == 0 ||
           budget_resource_left(budget, &engine->tally, outstanding(engine)) >=
               needed(engine, next, rested);
}

/* New trials end when the budget has no room for them; then others may go on
 * that would have waited for more to compare with. 1: there is a step to take,
 * 0: not before others have ended. */
static int ask(struct engine *engine, struct assignment *next,
               struct rested *rested, struct err *err)
{
    bool is_closed = !engine_may_suggest(engine);
    int has_room;

    scheduler_next(engine->scheduler, is_closed, next);
    has_room = fits(engine, next, rested, err);
    engine->wind_up.lacks_resource = has_room == 0;
    if (has_room == 0 && !is_closed) {
        scheduler_next(engine->scheduler, true, next);
        has_room = fits(engine, next, rested, err);
    }
    return next->kind == NEXT_NONE ? 0 : has_room;
}

/* As ask(), and takes it. */
static int take_next(struct engine *engine, struct err *err)
{
    struct rested rested = {
        .engine = engine,
        .below = INT64_MAX,
        .point = mem_array(space_count(engine->experiment->space),
                           sizeof(*rested.point)),
    };
    struct assignment next;
    int result = ask(engine, &next, &rested, err);

    if (result == 1 && !engine_begin(engine))
        result = 0;
    if (result == 1 && steps[next.kind](engine, &next, &rested, err) != 0)
        result = -1;
    free(rested.point);
    return result;
}

static bool schedule_next(struct engine *engine)
{
    struct err err;
    int result;

    if (engine->wind_up.is_beyond_budget)
        return false;
    result = take_next(engine, &err);
    if (result < 0)
        engine_break(engine, &err);
    return result == 1 && !engine->transaction.is_broken;
}

/* ---- the end ---- */

struct resting {
    int64_t numbers[STOPPED_A_TURN];
    size_t count;
};

static int on_paused(void *user, const struct trial_row *row)
{
    struct resting *resting = user;

    resting->numbers[resting->count++] = row->number;
    return 0;
}

static bool schedule_close(struct engine *engine)
{
    const struct trial_query query = {
        .run = engine->run->id,
        .order = ORDER_NUMBER,
        .state = job_state_names[JOB_PAUSED],
        .limit = STOPPED_A_TURN,
        .results_only = true,
    };
    const struct assignment end = {.kind = NEXT_STOP,
                                   .reason = "the run ended"};
    struct resting resting = {.count = 0};
    struct err err;
    int result = -1;

    if (engine->queues.paused_trials == 0)
        return false;
    /* Once somebody is stopped the schedule may want others, for whom there
     * is room. */
    engine->wind_up.is_beyond_budget = true;
    if (engine_begin(engine))
        result =
            store_each_trial(engine->store, &query, on_paused, &resting, &err);
    for (size_t i = 0; i < resting.count && result == 0; i++) {
        const struct rested rested = {.number = resting.numbers[i]};

        result = stop(engine, &end, &rested, &err);
    }
    if (result != 0 && !engine->transaction.is_broken)
        engine_break(engine, &err);
    return engine->queues.paused_trials > 0;
}

static void schedule_conclude(struct engine *engine)
{
    const struct budget *budget = &engine->experiment->budget;
    struct engine_result *result = engine->result;
    const char *reason = BUDGET_SCHEDULE_OVER;
    enum budget_verdict verdict = BUDGET_TRIALS;

    if (budget->trials > 0 && engine->tally.suggested >= budget->trials) {
        reason = budget_verdict_text(BUDGET_TRIALS);
    } else if (engine->wind_up.lacks_resource) {
        verdict = BUDGET_RESOURCE;
        reason = budget_verdict_text(BUDGET_RESOURCE);
    }
    search_explain(engine, verdict, reason);
    search_judge_run(result, &engine->tally);
}

/* ---- the row ---- */

static int schedule_open(struct engine *engine, struct err *err)
{
    const struct experiment *experiment = engine->experiment;

    engine->scheduler =
        scheduler_create(&experiment->schedule.options, experiment->space, err);
    if (engine->scheduler == NULL || search_open(engine, err) != 0)
        return -1;
    engine->looks_ahead = false;
    return 0;
}

/* The search method will suggest no more trials, or none beside those that
 * wait already. */
static int schedule_may_enqueue(const struct engine *engine, struct err *err)
{
    if (scheduler_room(engine->scheduler) >
        strategy_wish_count(engine->strategy))
        return 0;
    return err_set(
        err, ERR_BUSY,
        "the schedule now creates new trials only from earlier ones");
}

static bool schedule_is_idle(const struct engine *engine, int64_t *about,
                             struct buf *out)
{
    *about = engine->wind_up.lacks_resource;
    if (engine->wind_up.lacks_resource)
        buf_add_string(out, "the rest of budget.resource is too little for "
                            "the next step of the schedule");
    else
        buf_printf(out,
                   "the schedule waits for results: active=%" PRId64
                   " paused=%" PRId64,
                   engine->queues.live_count, engine->queues.paused_trials);
    return true;
}

const struct source source_schedule = {
    .is_search = true,
    .open = schedule_open,
    .read = recover_search,
    .take_up = search_take_up,
    .locate = rested_locate,
    .taken_up = search_taken_up,
    .next = schedule_next,
    .begin_attempt = schedule_begin_attempt,
    .launch = search_launch,
    .follow = schedule_follow,
    .look = schedule_look,
    .judge = schedule_judge,
    .end_attempt = schedule_end_attempt,
    .ended = search_ended,
    .may_enqueue = schedule_may_enqueue,
    .find_reopened = search_find_reopened,
    .reopened = search_reopened,
    .describe = search_describe,
    .is_idle = schedule_is_idle,
    .recall = search_recall,
    .committed = search_committed,
    .close = schedule_close,
    .conclude = schedule_conclude,
};
