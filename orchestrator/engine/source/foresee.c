/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result whose temporary outputs are missing is a cache hit as long as no
 * step needs them. That is found out before it is used, by a forecast of the
 * rest of the run (orchestrator/steps/cache_forecast.h), so a job that is over
 * need not run again. Until then its job is in the list `held`, and holds no
 * slot.
 *
 * One forecast decides for whole steps, also for jobs that come later. Where it
 * cannot decide before other jobs have ended, another one is made when a step
 * has. It knows of no limits on jobs at a time, so held jobs may wait for one
 * that waits for their place: when nothing else goes on, they run.
 *
 * If files that a later step reads change in between, a step may have to run
 * without what it needs. Then it fails, with the command that makes it again.
 */
#include "orchestrator/engine/source/foresee.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/engine/core/cancel_step.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/cached.h"
#include "orchestrator/steps/cache_ask.h"
#include "orchestrator/steps/cache_forecast.h"

/* ---- what is decided ---- */

static void let_run(struct engine *engine, struct job *job, size_t needed_by)
{
    const struct workflow *workflow = engine->run->workflow;
    const char *source =
        json_string_value(json_object_get(job->held_result, "source"));
    const char *step =
        needed_by != SIZE_MAX ? workflow->steps[needed_by].name : NULL;

    TAILQ_REMOVE(&engine->queues.held, job, link);
    engine_note_miss(engine, job, cache_ask_why_missing(source, step));
    TAILQ_INSERT_HEAD(&engine->queues.ready, job, link);
}

static void take_held(struct engine *engine, struct job *job)
{
    const json_t *held = job->held_result;

    TAILQ_REMOVE(&engine->queues.held, job, link);
    LOG(engine->log, LOG_ENGINE, LOG_INFO, job->number, "cache hit: %s",
        CACHE_NOT_NEEDED);
    engine_take_result(engine, job,
                       json_integer_value(json_object_get(held, "job")),
                       json_object_get(held, "outputs"));
}

/* The files are there again. */
static void ask_again(struct engine *engine, struct job *job)
{
    TAILQ_REMOVE(&engine->queues.held, job, link);
    job->was_asked = false;
    TAILQ_INSERT_HEAD(&engine->queues.ready, job, link);
}

static enum forecast_fate fate_of(const struct engine *engine,
                                  const struct job *job)
{
    const struct foreseen *steps = engine->foresight.steps;

    return steps != NULL ? steps[job->step].fate : FATE_NONE;
}

/* False where it is not known yet. */
static bool decide(struct engine *engine, struct job *job)
{
    if (job->wish == WISH_CANCEL)
        return true; /* it ends where it is */
    switch (fate_of(engine, job)) {
    case FATE_HIT:
        take_held(engine, job);
        return true;
    case FATE_MISS:
        let_run(engine, job, engine->foresight.steps[job->step].needed_by);
        return true;
    case FATE_WAITS:
        return false;
    case FATE_NONE:
        break;
    }
    if (job->is_foreseen)
        ask_again(engine, job);
    return job->is_foreseen;
}

static void decide_all(struct engine *engine)
{
    struct job *job, *next;

    for (job = TAILQ_FIRST(&engine->queues.held);
         job != NULL && !engine->transaction.is_broken; job = next) {
        next = TAILQ_NEXT(job, link);
        if (!decide(engine, job))
            engine->foresight.is_due |= !job->is_foreseen;
    }
}

/* ---- the forecast ---- */

static void forget_forecast(struct engine *engine)
{
    cache_forecast_destroy(engine->foresight.forecast);
    engine->foresight.forecast = NULL;
}

static void on_known(void *user)
{
    struct engine *engine = user;
    size_t count = engine->run->workflow->step_count;

    free(engine->foresight.steps);
    engine->foresight.steps =
        mem_array(count, sizeof(*engine->foresight.steps));
    for (size_t i = 0; i < count; i++) {
        const struct forecast_step *step =
            cache_forecast_step(engine->foresight.forecast, i);

        engine->foresight.steps[i] =
            (struct foreseen){step->fate, step->needed_by};
    }
    forget_forecast(engine);
    decide_all(engine);
    engine_foresee(engine);
}

/* What the record has not: that its user put it back. */
static void note_reopened(const struct engine *engine,
                          struct step_record *records)
{
    const struct job_list *const idle[] = {IDLE_LISTS(engine)};
    const struct job *job;

    for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
        TAILQ_FOREACH(job, idle[i], link)
        {
            struct step_record *record = &records[job->step];

            if (job->is_reopened && (size_t)job->copy < record->count)
                record->copies[job->copy].is_reopened = true;
        }
    }
}

static struct cache_forecast *begin(struct engine *engine, struct err *err)
{
    size_t count = engine->run->workflow->step_count;
    struct step_record *records = mem_array(count, sizeof(*records));
    const struct forecast_now now = {
        .run = engine->run,
        .earlier = engine->earlier_results,
        .environment = engine->site.environment,
        .cache = engine->cache,
        .nothing_runs =
            engine->run->workflow->is_touched && !engine->steps->touch_is_over,
        .records = records,
        .known = on_known,
        .user = engine,
    };

    if (step_records_read(records, count, engine->store, engine->run->id,
                          err) != 0) {
        step_records_clear(records, count);
        return NULL;
    }
    note_reopened(engine, records);
    return cache_forecast_begin(&now, err);
}

static void foresee(struct engine *engine)
{
    struct foresight *foresight = &engine->foresight;
    struct err err;
    struct job *job;

    foresight->is_due = false;
    TAILQ_FOREACH(job, &engine->queues.held, link)
    {
        job->is_foreseen = true;
    }
    foresight->forecast = begin(engine, &err);
    if (foresight->forecast == NULL)
        engine_break(engine, &err);
    else if (cache_forecast_is_known(foresight->forecast))
        on_known(engine);
}

void engine_foresee(struct engine *engine)
{
    if (engine->foresight.is_due && engine->foresight.forecast == NULL &&
        !TAILQ_EMPTY(&engine->queues.held) &&
        engine->wind_up.phase == PHASE_RUNNING &&
        !engine->transaction.is_broken)
        foresee(engine);
}

void engine_foresee_again(struct engine *engine)
{
    engine->foresight.is_due |= !TAILQ_EMPTY(&engine->queues.held);
}

void engine_foresee_after(struct engine *engine, const struct job *ended)
{
    struct flow_counts counts;
    const struct job *job;
    int64_t held = 0;

    TAILQ_FOREACH(job, &engine->queues.held, link)
    {
        held += job->step == ended->step;
    }
    if (held == 0)
        return;
    flow_count(engine->steps->flow, (size_t)ended->step, &counts);
    engine->foresight.is_due |= counts.started == held;
}

/* ---- jobs ---- */

void engine_hold(struct engine *engine, struct job *job,
                 const struct cache_answer *answer)
{
    json_decref(job->held_result);
    job->held_result =
        json_pack("{s:I, s:s, s:o}", "job", (json_int_t)answer->job, "source",
                  answer->source, "outputs", json_deep_copy(answer->outputs));
    job->is_foreseen = false;
    engine_leave_asked(engine, job);
    TAILQ_INSERT_TAIL(&engine->queues.held, job, link);
    LOG(engine->log, LOG_ENGINE, LOG_INFO, job->number,
        "a temporary output of %s is missing: waits until it is clear whether "
        "a step needs it",
        answer->source);
    if (decide(engine, job))
        return;
    /* While others are held, each step that ends is looked at. */
    if (TAILQ_FIRST(&engine->queues.held) != job &&
        fate_of(engine, job) == FATE_WAITS)
        return;
    engine->foresight.is_due = true;
    engine_foresee(engine);
}

/* Jobs that were put back may wait for the place of a held one, too. */
static bool is_idle(const struct engine *engine)
{
    const struct engine_queues *queues = &engine->queues;

    return engine_active(engine) == 0 && TAILQ_EMPTY(&queues->ready) &&
           TAILQ_EMPTY(&queues->waiting) && TAILQ_EMPTY(&queues->settled);
}

bool engine_run_held(struct engine *engine)
{
    struct job *job;

    engine_foresee(engine);
    if (TAILQ_EMPTY(&engine->queues.held) || !is_idle(engine) ||
        engine->foresight.forecast != NULL)
        return false;
    while ((job = TAILQ_FIRST(&engine->queues.held)) != NULL)
        let_run(engine, job, SIZE_MAX);
    return true;
}

void engine_give_up_held(struct engine *engine)
{
    struct job *job;

    forget_forecast(engine);
    while ((job = TAILQ_FIRST(&engine->queues.held)) != NULL)
        ask_again(engine, job);
}

void engine_forget_foresight(struct engine *engine)
{
    forget_forecast(engine);
    free(engine->foresight.steps);
    engine->foresight.steps = NULL;
    engine_foresee_again(engine);
}

void engine_close_foresight(struct engine *engine)
{
    forget_forecast(engine);
    free(engine->foresight.steps);
    engine->foresight.steps = NULL;
}
