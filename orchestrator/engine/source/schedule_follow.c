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
static bool observe(struct engine *engine, struct job *job, int64_t resource,
                    struct verdict *verdict)
{
    const struct experiment *experiment = engine->experiment;
    size_t i = experiment->schedule.objective;
    double *values = job_objectives(job, experiment);
    const struct feedback_item item = {
        .kind = FEEDBACK_OBSERVATION,
        .number = job->number,
        .place = engine->transaction.told_count + 1,
        .values = values,
        .outcomes = job->outcomes,
        .resource = resource,
        .last = job->last[i],
        .best = job->best[i],
    };
    struct observation_new row = {
        .run = engine->run->id,
        .job = job->id,
        .attempt = job->attempt,
        .resource = resource,
        .told = item.place,
        .values = values,
        .value_count = experiment->objective_count,
        .outcomes = job->outcomes,
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
static void decide(struct engine *engine, struct job *job)
{
    struct verdict verdict;

    if (!job->is_scheduled || job->is_given_up || job->wish != WISH_NONE ||
        scheduler_pauses(engine->scheduler) ||
        (uint64_t)job->reached <
            scheduler_awaits(engine->scheduler, (uint64_t)job->number))
        return;
    if (!observe(engine, job, job->reached, &verdict) ||
        verdict.decision != DECIDE_STOP)
        return;
    job->is_given_up = true;
    /* What came to its end meanwhile has done so. */
    if (!job->has_ended || job->end.cause != CAUSE_OK)
        job->wish = WISH_GIVE_UP;
    engine->queues.given_up_count += !job->has_ended;
}

/* What lies beyond what the trial was given counts for nothing. */
void schedule_follow(struct engine *engine, struct job *job,
                     const struct metric_point *point)
{
    if (!decides(engine, point->name) || point->step <= job->resource) {
        engine_reach(engine, job, point->name, point->step);
        engine_keep_metric(engine, job, point);
        decide(engine, job);
    } else if (!job->has_ended && job->wish == WISH_NONE) {
        job->wish = WISH_PAUSE;
        executor_cancel(job->executor, job->attempt, CANCEL_TERM);
    }
}

static bool has_come_to_pause(const struct engine *engine,
                              const struct job *job, enum job_event event)
{
    return event == EVENT_SUCCEEDED && job->is_scheduled &&
           scheduler_pauses(engine->scheduler);
}

/* What ended well where trials pause has used all that it was given, whatever
 * it said of that. */
static int64_t find_used(const struct engine *engine, struct job *job,
                         enum job_event event)
{
    if (has_come_to_pause(engine, job, event))
        job->reached = job->resource;
    return job->reached > job->from ? job->reached - job->from : 0;
}

static int keep_reason(void *user, const struct observation_row *row)
{
    struct job *job = user;

    snprintf(job->end.text, sizeof(job->end.text), "%s", row->reason);
    return 0;
}

enum job_event schedule_end_attempt(struct engine *engine, struct job *job,
                                    enum job_event event,
                                    struct attempt_end *end)
{
    struct verdict verdict;
    struct err err;

    end->resource_used = find_used(engine, job, event);
    if (!engine_end_attempt(engine, end))
        return event;
    if (job->wish == WISH_GIVE_UP &&
        store_each_observation(engine->store, engine->run->id, job->id,
                               keep_reason, job, &err) != 0)
        engine_break(engine, &err);
    if (!has_come_to_pause(engine, job, event))
        return event;
    if (!observe(engine, job, job->resource, &verdict) ||
        verdict.decision != DECIDE_PAUSE)
        return event;
    engine->queues.paused_trials++;
    return EVENT_PAUSED;
}

/* Of the first one: where one leaves none, all may. What each attempt does is
 * in its row. */
static void tell_of_lost_checkpoint(struct engine *engine,
                                    const struct job *job)
{
    char text[256];

    engine->has_told_of_checkpoints = true;
    snprintf(text, sizeof(text),
             "trial %" PRId64 " saved no checkpoint at %" PRId64
             " %s: it starts again from the beginning, and so does each "
             "trial without a checkpoint",
             job->number, job->paused_at,
             engine->experiment->schedule.resource);
    engine->events->warn(engine->events->user, text);
}

bool schedule_begin_attempt(struct engine *engine, struct job *job)
{
    job->from = job->reached = 0;
    if (job->paused_at == 0 || !engine->experiment->task.has_checkpoints)
        return true;
    if (workspace_has_checkpoint(engine->workspaces, job->number)) {
        job->from = job->reached = job->paused_at;
        return true;
    }
    job->has_lost_checkpoint = true;
    if (!engine->has_told_of_checkpoints)
        tell_of_lost_checkpoint(engine, job);
    return true;
}
