/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/engine_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/search/search.h"

/*
 * Where a schedule says which trial goes on, and how far. It is asked when a
 * slot is free, and told what trials had reached: on their way, or, where they
 * pause, when their attempt has ended. Whatever changes what it knows has a
 * place among the results (told_count), so that an engine that comes later can
 * tell it all again. Paused trials are in the record alone.
 */

enum { STOPPED_A_TURN = 256 };

/* ---- what trials reach ---- */

/* Tells search and schedule what the trial has reached, into the record too.
 * False when the engine broke. */
static bool observe(struct engine *engine, struct trial *trial,
                    int64_t resource, struct verdict *verdict)
{
    const struct experiment *experiment = engine->experiment;
    size_t i = experiment->schedule.objective;
    double *values = trial_objectives(trial, experiment);
    const struct told_item item = {
        .kind = TOLD_OBSERVATION,
        .number = trial->number,
        .place = engine->told_count + 1,
        .values = values,
        .outcomes = trial->outcomes,
        .resource = resource,
        .last = trial->last[i],
        .best = trial->best[i],
    };
    struct observation_new row = {
        .run = engine->run->id,
        .job = trial->job,
        .attempt = trial->attempt,
        .resource = resource,
        .told = item.place,
        .values = values,
        .value_count = experiment->objective_count,
        .outcomes = trial->outcomes,
        .outcome_count = experiment->outcome_count,
        .last = item.last,
        .best = item.best,
        .time_ms = clock_wall_ms(),
    };
    struct err err;
    bool is_kept = engine_begin(engine);

    engine_account(engine, &item, verdict);
    row.rung = verdict->rung;
    row.decision = decision_names[verdict->decision];
    row.reason = verdict->reason;
    if (is_kept && store_add_observation(engine->store, &row, &err) != 0) {
        engine_break(engine, &err);
        is_kept = false;
    }
    free(values);
    return is_kept;
}

static bool decides(const struct engine *engine, const char *metric)
{
    const struct experiment *experiment = engine->experiment;
    size_t i = experiment->schedule.objective;

    return engine->scheduler != NULL &&
           strcmp(metric, experiment->objectives[i].metric) == 0;
}

void engine_schedule_reach(const struct engine *engine, struct trial *trial,
                           const char *name, int64_t step)
{
    if (decides(engine, name) && step > trial->reached)
        trial->reached = step;
}

bool engine_schedule_follow(struct engine *engine, struct trial *trial,
                            const char *name, int64_t step)
{
    if (!decides(engine, name) || step <= trial->resource) {
        engine_schedule_reach(engine, trial, name, step);
        return true;
    }
    if (!trial->has_ended && trial->wish == WISH_NONE) {
        trial->wish = WISH_PAUSE;
        executor_cancel(trial->executor, trial->attempt, CANCEL_TERM);
    }
    return false;
}

void engine_schedule_decide(struct engine *engine, struct trial *trial)
{
    struct verdict verdict;

    if (engine->scheduler == NULL || !trial->is_scheduled ||
        trial->is_given_up || trial->wish != WISH_NONE ||
        scheduler_pauses(engine->scheduler) ||
        (uint64_t)trial->reached <
            scheduler_awaits(engine->scheduler, (uint64_t)trial->number))
        return;
    if (!observe(engine, trial, trial->reached, &verdict) ||
        verdict.decision != DECIDE_STOP)
        return;
    trial->is_given_up = true;
    /* What came to its end meanwhile has done so. */
    if (!trial->has_ended || trial->end.cause != CAUSE_OK)
        trial->wish = WISH_GIVE_UP;
    engine->given_up_count += !trial->has_ended;
}

void engine_schedule_enforce(struct engine *engine)
{
    struct trial *trial;

    if (engine->given_up_count == 0)
        return;
    engine->given_up_count = 0;
    TAILQ_FOREACH(trial, &engine->live, link)
    {
        if (trial->wish != WISH_GIVE_UP || trial->is_told_to_end)
            continue;
        trial->is_told_to_end = true;
        executor_cancel(trial->executor, trial->attempt, CANCEL_TERM);
    }
}

static bool has_come_to_pause(const struct engine *engine,
                              const struct trial *trial, enum job_event event)
{
    return event == EVENT_SUCCEEDED && engine->scheduler != NULL &&
           trial->is_scheduled && scheduler_pauses(engine->scheduler);
}

/* What ended well where trials pause has used all that it was given, whatever
 * it said of that. */
int64_t engine_schedule_used(const struct engine *engine, struct trial *trial,
                             enum job_event event)
{
    if (has_come_to_pause(engine, trial, event))
        trial->reached = trial->resource;
    return trial->reached > trial->from ? trial->reached - trial->from : 0;
}

static int keep_reason(void *user, const struct observation_row *row)
{
    struct trial *trial = user;

    snprintf(trial->end.text, sizeof(trial->end.text), "%s", row->reason);
    return 0;
}

enum job_event engine_schedule_end(struct engine *engine, struct trial *trial,
                                   enum job_event event)
{
    struct verdict verdict;
    struct err err;

    if (trial->wish == WISH_GIVE_UP &&
        store_each_observation(engine->store, engine->run->id, trial->job,
                               keep_reason, trial, &err) != 0)
        engine_break(engine, &err);
    if (!has_come_to_pause(engine, trial, event))
        return event;
    if (!observe(engine, trial, trial->resource, &verdict) ||
        verdict.decision != DECIDE_PAUSE)
        return event;
    engine->paused_trials++;
    return EVENT_PAUSED;
}

/* ---- what is next ---- */

/* Of the first one: where one leaves none, all may. What each attempt does is
 * in its row. */
static void tell_of_lost_checkpoint(struct engine *engine,
                                    const struct trial *trial)
{
    char text[256];

    engine->has_told_of_checkpoints = true;
    snprintf(text, sizeof(text),
             "trial %" PRId64 " left no checkpoint of what it had reached at "
             "%" PRId64 " %s: it starts again from nothing, as others will "
             "that leave none",
             trial->number, trial->paused_at,
             engine->experiment->schedule.resource);
    engine->events->warn(engine->events->user, text);
}

void engine_schedule_begin(struct engine *engine, struct trial *trial)
{
    trial->from = trial->reached = 0;
    if (trial->paused_at == 0 || !engine->experiment->task.has_checkpoints)
        return;
    if (workspace_has_checkpoint(engine->workspaces, trial->number)) {
        trial->from = trial->reached = trial->paused_at;
        return;
    }
    trial->has_lost_checkpoint = true;
    if (!engine->has_told_of_checkpoints)
        tell_of_lost_checkpoint(engine, trial);
}

struct rested { /* a paused trial */
    const struct engine *engine;
    int64_t number, job;
    struct value *point; /* [space_count] */
    int64_t below;       /* what is looked for is at less than that */
    int64_t resource;    /* at which it paused last; 0: never */
    bool is_stopped;
    struct err *err;
};

static int on_rested(void *user, const struct trial_row *row)
{
    struct rested *rested = user;

    rested->job = row->job;
    return search_point(rested->engine->experiment->space, row, rested->point,
                        rested->err);
}

static int on_observation(void *user, const struct observation_row *row)
{
    struct rested *rested = user;

    if (row->resource < rested->below)
        rested->resource = row->resource;
    rested->is_stopped =
        strcmp(row->decision, decision_names[DECIDE_STOP]) == 0;
    return 0;
}

static int find_rested(struct rested *rested, struct err *err)
{
    const struct engine *engine = rested->engine;
    struct trial_query query = {.run = engine->run->id,
                                .number = rested->number};

    rested->err = err;
    if (store_each_trial(engine->store, &query, on_rested, rested, err) != 0)
        return -1;
    return store_each_observation(engine->store, engine->run->id, rested->job,
                                  on_observation, rested, err);
}

int engine_schedule_take_up(const struct engine *engine, struct trial *trial,
                            struct err *err)
{
    struct rested own = {.engine = engine, .below = INT64_MAX};
    struct rested parent = {
        .engine = engine, .number = trial->parent, .below = trial->resource};
    int result;

    if (engine->scheduler == NULL || !trial->is_scheduled)
        return 0;
    result = store_each_observation(engine->store, engine->run->id, trial->job,
                                    on_observation, &own, err);
    if (own.is_stopped)
        trial->wish = WISH_GIVE_UP;
    if (!scheduler_pauses(engine->scheduler))
        return result;
    if (result == 0 && own.resource == 0 && trial->parent > 0) {
        parent.point = mem_array(space_count(engine->experiment->space),
                                 sizeof(*parent.point));
        result = find_rested(&parent, err);
        free(parent.point);
    }
    trial->paused_at = own.resource > 0 ? own.resource : parent.resource;
    if (trial->attempt == 0 && engine->experiment->task.has_checkpoints)
        trial->from = trial->paused_at;
    return result;
}

static int promote(struct engine *engine, const struct assignment *next,
                   const struct rested *rested, struct err *err)
{
    const struct told_item item = {
        .kind = TOLD_PROMOTION,
        .number = rested->number,
        .place = engine->told_count + 1,
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

    if (store_promote_job(engine->store, &promotion, err) != 0)
        return -1;
    engine_account(engine, &item, NULL);
    engine->paused_trials--;
    if (engine_take_up(engine, rested->number, JOB_READY, err) != 0)
        return -1;
    TAILQ_LAST(&engine->ready, trial_list)->is_promoted = true;
    return 0;
}

/* It is over, with what it had reached. */
static int stop(struct engine *engine, const struct assignment *next,
                const struct rested *rested, struct err *err)
{
    struct trial *trial;

    if (engine_take_up(engine, rested->number, JOB_PAUSED, err) != 0)
        return -1;
    trial = TAILQ_LAST(&engine->ready, trial_list);
    TAILQ_REMOVE(&engine->ready, trial, link);
    TAILQ_INSERT_TAIL(&engine->settled, trial, link);
    snprintf(trial->end.text, sizeof(trial->end.text), "%s", next->reason);
    engine->paused_trials--;
    if (engine_change_trial(engine, trial, EVENT_STOPPED, NULL))
        engine_account_ended(engine, trial, true);
    return 0;
}

static int add_clone(struct engine *engine, const struct assignment *next,
                     const struct rested *rested, struct err *err)
{
    struct trial *trial;

    if (!engine_suggest(engine, next, rested->point))
        return 0;
    trial = TAILQ_LAST(&engine->ready, trial_list);
    trial->paused_at = rested->resource;
    return workspace_copy_checkpoint(engine->workspaces, rested->number,
                                     trial->number, err);
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
    const struct trial_list *const lists[] = {&engine->ready, &engine->prepared,
                                              &engine->committed, &engine->live,
                                              &engine->waiting};
    int64_t sum = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct trial *trial;

        TAILQ_FOREACH(trial, lists[i], link)
        {
            sum += trial->resource - trial->from;
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
        find_rested(rested, err) != 0)
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
    engine->lacks_resource = has_room == 0;
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

bool engine_schedule_next(struct engine *engine)
{
    struct err err;
    int result;

    if (engine->is_beyond_budget)
        return false;
    result = take_next(engine, &err);
    if (result < 0)
        engine_break(engine, &err);
    return result == 1 && !engine->is_broken;
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

void engine_schedule_close(struct engine *engine)
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

    /* Once somebody is stopped the schedule may want others, for whom there
     * is room. */
    engine->is_beyond_budget = true;
    if (engine_begin(engine))
        result =
            store_each_trial(engine->store, &query, on_paused, &resting, &err);
    for (size_t i = 0; i < resting.count && result == 0; i++) {
        const struct rested rested = {.number = resting.numbers[i]};

        result = stop(engine, &end, &rested, &err);
    }
    if (result != 0 && !engine->is_broken)
        engine_break(engine, &err);
}
