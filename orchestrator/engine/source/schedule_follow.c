/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/schedule_follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/feedback.h"

/*
 * A schedule is told what trials had reached: on their way, or, where they
 * pause, when their attempt has ended. Whatever changes what it knows has a
 * place among the results (told_count), so that an engine that comes later can
 * tell it all again.
 */

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
        .place = engine->transaction.told_count + 1,
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

    engine_count(engine, &item);
    feedback_give(engine, &item, verdict);
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

    return strcmp(metric, experiment->objectives[i].metric) == 0;
}

/* A point of a curve was taken in: what follows from it. */
static void decide(struct engine *engine, struct trial *trial)
{
    struct verdict verdict;

    if (!trial->is_scheduled || trial->is_given_up ||
        trial->wish != WISH_NONE || scheduler_pauses(engine->scheduler) ||
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
    engine->queues.given_up_count += !trial->has_ended;
}

/* What lies beyond what the trial was given counts for nothing. */
void schedule_follow(struct engine *engine, struct trial *trial,
                     const struct metric_point *point)
{
    if (!decides(engine, point->name) || point->step <= trial->resource) {
        engine_reach(engine, trial, point->name, point->step);
        engine_keep_metric(engine, trial, point);
        decide(engine, trial);
    } else if (!trial->has_ended && trial->wish == WISH_NONE) {
        trial->wish = WISH_PAUSE;
        executor_cancel(trial->executor, trial->attempt, CANCEL_TERM);
    }
}

static bool has_come_to_pause(const struct engine *engine,
                              const struct trial *trial, enum job_event event)
{
    return event == EVENT_SUCCEEDED && trial->is_scheduled &&
           scheduler_pauses(engine->scheduler);
}

/* What ended well where trials pause has used all that it was given, whatever
 * it said of that. */
static int64_t find_used(const struct engine *engine, struct trial *trial,
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

enum job_event schedule_end_attempt(struct engine *engine, struct trial *trial,
                                    enum job_event event,
                                    struct attempt_end *end)
{
    struct verdict verdict;
    struct err err;

    end->resource_used = find_used(engine, trial, event);
    if (!engine_end_attempt(engine, end))
        return event;
    if (trial->wish == WISH_GIVE_UP &&
        store_each_observation(engine->store, engine->run->id, trial->job,
                               keep_reason, trial, &err) != 0)
        engine_break(engine, &err);
    if (!has_come_to_pause(engine, trial, event))
        return event;
    if (!observe(engine, trial, trial->resource, &verdict) ||
        verdict.decision != DECIDE_PAUSE)
        return event;
    engine->queues.paused_trials++;
    return EVENT_PAUSED;
}

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

bool schedule_begin_attempt(struct engine *engine, struct trial *trial)
{
    trial->from = trial->reached = 0;
    if (trial->paused_at == 0 || !engine->experiment->task.has_checkpoints)
        return true;
    if (workspace_has_checkpoint(engine->workspaces, trial->number)) {
        trial->from = trial->reached = trial->paused_at;
        return true;
    }
    trial->has_lost_checkpoint = true;
    if (!engine->has_told_of_checkpoints)
        tell_of_lost_checkpoint(engine, trial);
    return true;
}
