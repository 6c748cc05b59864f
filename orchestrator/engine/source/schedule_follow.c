/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/schedule_follow.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/units.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/core/warn.h"
#include "orchestrator/engine/source/feedback.h"
#include "orchestrator/engine/source/restart.h"
#include "orchestrator/engine/source/search.h"

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

/* ---- beyond the resource ---- */

static void end_overrun(struct job *job)
{
    job->wish = WISH_PAUSE;
    job->is_told_to_end = true;
    executor_cancel(job->executor, job->attempt, CANCEL_TERM);
}

/* A trial that has values may still write the checkpoint of its last unit: it
 * has its time to end, or one more unit. */
static void overrun(struct engine *engine, struct job *job, double step)
{
    size_t i = engine->experiment->schedule.objective;

    if (job->wish != WISH_NONE)
        return;
    if (job->overrun_ms == 0) {
        job->overrun_ms = clock_monotonic_ms();
        job->overrun_step = step;
    }
    if (job->has_ended)
        return;
    if (!job->said[i] || !engine->experiment->task.has_checkpoints ||
        floor(step) > floor(job->overrun_step))
        end_overrun(job);
}

void schedule_look(UNUSED struct engine *engine, struct job *job)
{
    if (job->overrun_ms > 0 && job->wish == WISH_NONE && !job->has_ended &&
        clock_monotonic_ms() - job->overrun_ms >= job->resources.grace_ms)
        end_overrun(job);
}

/* Of the first one: where one names no step, none does. */
static void warn_of_counted(struct engine *engine, const struct job *job,
                            const struct metric_point *point)
{
    const char *resource = engine->experiment->schedule.resource;

    if (point->is_counted)
        engine_warn_once(
            engine, &engine->has_told_of_counting,
            "trial %" PRId64 ": no line names the step of '%s', so each of "
            "its values counts as one of %s: print %s=N beside the value",
            job->number, point->name, resource, resource);
}

/* What lies beyond what the trial was given counts for nothing. */
static void keep(struct engine *engine, struct job *job,
                 const struct metric_point *point)
{
    bool is_deciding = decides(engine, point->name);

    if (is_deciding && point->step > (double)job->resource) {
        overrun(engine, job, point->step);
        return;
    }
    if (is_deciding)
        warn_of_counted(engine, job, point);
    engine_reach(engine, job, point->name, point->step);
    engine_keep_metric(engine, job, point);
    decide(engine, job);
}

void schedule_follow(struct engine *engine, struct job *job,
                     const struct metric_point *point)
{
    restart_follow(engine, job, point, decides(engine, point->name), keep);
}

/* ---- the end of an attempt ---- */

/* No value counted, because the first one was beyond the resource. */
static void fail_overrun(const struct engine *engine, struct job *job)
{
    const struct schedule *schedule = &engine->experiment->schedule;
    struct attempt_exit *end = &job->end;

    end->cause = CAUSE_NO_METRIC;
    if (job->wish == WISH_PAUSE)
        job->wish = WISH_NONE;
    snprintf(end->text, sizeof(end->text),
             "its first value of '%s' is at step %g, beyond its resource of "
             "%" PRId64 " %.*s",
             engine->experiment->objectives[schedule->objective].metric,
             job->overrun_step, job->resource,
             units_length(schedule->resource, job->resource),
             schedule->resource);
}

/* A trial that has reported all of its resource has come to its end, even if it
 * reported so late that its schedule gave it up on the way. One that crashed
 * has not. */
static bool has_used_all(const struct job *job)
{
    return job->resource > 0 && job->reached >= job->resource &&
           (job->end.cause == CAUSE_OK || job->end.cause == CAUSE_CANCELLED);
}

int schedule_judge(struct engine *engine, struct job *job, struct err *err)
{
    size_t i = engine->experiment->schedule.objective;

    restart_end(engine, job, keep);
    if (job->wish == WISH_GIVE_UP && has_used_all(job))
        job->wish = WISH_PAUSE;
    if (job->overrun_ms > 0 && !job->said[i] &&
        (job->end.cause == CAUSE_OK || job->wish == WISH_PAUSE)) {
        fail_overrun(engine, job);
        return 1;
    }
    return search_judge(engine, job, err);
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
    const char *resource = engine->experiment->schedule.resource;

    engine_warn_once(
        engine, &engine->has_told_of_checkpoints,
        "trial %" PRId64 " %s at %" PRId64
        " %.*s: it starts again from the beginning, and so does each "
        "trial without a checkpoint",
        job->number,
        job->was_cancelled ? "had no checkpoint when smtune stopped it"
                           : "saved no checkpoint",
        job->paused_at, units_length(resource, job->paused_at), resource);
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
    tell_of_lost_checkpoint(engine, job);
    return true;
}
