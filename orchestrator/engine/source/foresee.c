/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result whose temporary outputs are missing is a cache hit as long as no
 * step needs them. That is found out before it is used, by a forecast of the
 * rest of the run (orchestrator/steps/cache_forecast.h), so a job that is over
 * need not run again. Until then its job is in the list `held`, and holds no
 * slot. Then it asks the cache once more, since it may have waited for days.
 *
 * One forecast decides for whole steps, also for jobs that come later. Where it
 * cannot decide before other jobs have ended, another one is made when a step
 * has ended on which the decision depends. Each costs as much as the rest of
 * the run has jobs, so they have pauses between them, unless nothing else goes
 * on.
 *
 * A forecast knows of no limits on jobs at a time. Held jobs run if a step on
 * which they wait waits for the place of one of them, and if nothing else goes
 * on.
 *
 * If files that a later step reads change in between, a step may have to run
 * without what it needs. Then it fails, with the command that makes it again.
 */
#include "orchestrator/engine/source/foresee.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/engine/core/cancel_step.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/cached.h"
#include "orchestrator/engine/source/foresee_places.h"
#include "orchestrator/steps/cache_ask.h"
#include "orchestrator/steps/cache_forecast.h"

/* After a forecast none begins for so many times as long as it took. */
enum { PAUSES = 10, PAUSE_MAX_MS = 60 * 1000 };

/* ---- what is decided ---- */

static void put_back(struct engine *engine, struct job *job)
{
    engine_leave_held(engine, job);
    TAILQ_INSERT_HEAD(&engine->queues.ready, job, link);
}

static void let_run(struct engine *engine, struct job *job, size_t needed_by)
{
    const struct workflow *workflow = engine->run->workflow;
    const char *step =
        needed_by != SIZE_MAX ? workflow->steps[needed_by].name : NULL;

    engine_note_miss(engine, job, cache_ask_why_missing(job->held_for, step));
    put_back(engine, job);
}

static void ask_again(struct engine *engine, struct job *job)
{
    job->was_asked = false;
    put_back(engine, job);
}

static enum forecast_fate fate_of(const struct engine *engine,
                                  const struct job *job)
{
    const struct foreseen *steps = engine->foresight.steps;

    return steps != NULL ? steps[job->step].fate : FATE_NONE;
}

/* The files seem to be there again: that is asked only once. */
static void end_unforeseen(struct engine *engine, struct job *job)
{
    if (job->was_unforeseen) {
        let_run(engine, job, SIZE_MAX);
        return;
    }
    job->was_unforeseen = true;
    ask_again(engine, job);
}

/* False where it is not known yet. */
static bool decide(struct engine *engine, struct job *job)
{
    if (job->wish == WISH_CANCEL)
        return true; /* it ends where it is */
    switch (fate_of(engine, job)) {
    case FATE_HIT:
        job->takes_lacking = true;
        ask_again(engine, job);
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
        end_unforeseen(engine, job);
    return job->is_foreseen;
}

/* From the last one on: each is the first that is ready then. */
static void decide_all(struct engine *engine)
{
    struct job *job, *before;

    for (job = TAILQ_LAST(&engine->queues.held, job_list); job != NULL;
         job = before) {
        before = TAILQ_PREV(job, job_list, link);
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

/* How long the forecast took, in ms. */
static int64_t rest(struct foresight *foresight)
{
    int64_t now_ms = clock_monotonic_ms();
    int64_t rest_ms = PAUSES * (now_ms - foresight->begun_ms);

    foresight->not_before_ms =
        now_ms + (rest_ms < PAUSE_MAX_MS ? rest_ms : PAUSE_MAX_MS);
    return now_ms - foresight->begun_ms;
}

static void on_known(void *user)
{
    struct engine *engine = user;
    struct foresight *foresight = &engine->foresight;
    size_t count = engine->run->workflow->step_count;
    int64_t took_ms;

    free(foresight->steps);
    foresight->steps = mem_array(count, sizeof(*foresight->steps));
    for (size_t i = 0; i < count; i++) {
        const struct forecast_step *step =
            cache_forecast_step(foresight->forecast, i);

        foresight->steps[i] = (struct foreseen){step->fate, step->needed_by,
                                                step->matters, step->decides};
    }
    forget_forecast(engine);
    took_ms = rest(foresight);
    decide_all(engine);
    LOG(engine->log, LOG_ENGINE, LOG_DEBUG, 0,
        "forecast of cache hits made in %" PRId64 " ms%s", took_ms,
        TAILQ_EMPTY(&engine->queues.held) ? "" : "; some jobs still wait");
    engine_foresee(engine);
}

/* What the rows of jobs have not. */
static void note_reopened(const struct engine *engine,
                          struct step_record *records)
{
    const struct job_list *const idle[] = {IDLE_LISTS(engine)};
    const struct job *job;

    for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
        TAILQ_FOREACH(job, idle[i], link)
        {
            struct step_record *record = &records[job->step];

            if (job->runs_again && (size_t)job->copy < record->count)
                record->copies[job->copy].runs_again = true;
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
    struct err err = {0};
    struct job *job;

    foresight->is_due = false;
    foresight->begun_ms = clock_monotonic_ms();
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

static bool may_foresee(const struct engine *engine)
{
    return engine->foresight.is_due && engine->foresight.forecast == NULL &&
           !TAILQ_EMPTY(&engine->queues.held) &&
           engine->wind_up.phase == PHASE_RUNNING &&
           !engine->transaction.is_broken;
}

void engine_foresee(struct engine *engine)
{
    if (may_foresee(engine) &&
        clock_monotonic_ms() >= engine->foresight.not_before_ms)
        foresee(engine);
}

void engine_foresee_again(struct engine *engine, size_t ended)
{
    const struct foresight *foresight = &engine->foresight;
    bool matters = foresight->forecast != NULL || foresight->steps == NULL ||
                   foresight->steps[ended].matters;

    engine->foresight.is_due |= matters && !TAILQ_EMPTY(&engine->queues.held);
}

void engine_foresee_after(struct engine *engine, const struct job *ended)
{
    int64_t held = engine->steps->now[ended->step].held;
    struct flow_counts counts;

    if (held == 0)
        return;
    flow_count(engine->steps->flow, (size_t)ended->step, &counts);
    engine->foresight.is_due |= counts.started == held;
}

/* ---- jobs ---- */

void engine_hold(struct engine *engine, struct job *job,
                 const struct cache_answer *answer)
{
    engine_leave_asked(engine, job);
    if (job->takes_lacking || fate_of(engine, job) == FATE_HIT) {
        LOG(engine->log, LOG_ENGINE, LOG_INFO, job->number, "cache hit: %s",
            CACHE_NOT_NEEDED);
        engine_take_result(engine, job, answer->job, answer->outputs);
        return;
    }
    free(job->held_for);
    job->held_for = mem_copy_string(answer->source);
    job->is_foreseen = false;
    TAILQ_INSERT_TAIL(&engine->queues.held, job, link);
    engine->steps->now[job->step].held++;
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

/* Those run for whose place a step waits that decides. */
static bool make_way(struct engine *engine)
{
    struct wanted_places wanted;
    struct job *job, *before;
    bool any = false;

    if (engine->foresight.steps == NULL)
        return false;
    engine_find_wanted(engine, &wanted);
    for (job = TAILQ_LAST(&engine->queues.held, job_list); job != NULL;
         job = before) {
        before = TAILQ_PREV(job, job_list, link);
        if (fate_of(engine, job) != FATE_WAITS ||
            !engine_is_in_the_way(engine, job, &wanted))
            continue;
        let_run(engine, job, SIZE_MAX);
        any = true;
    }
    wanted_places_clear(&wanted);
    return any;
}

bool engine_run_held(struct engine *engine)
{
    bool idle = is_idle(engine);
    struct job *job;

    if (TAILQ_EMPTY(&engine->queues.held))
        return false;
    if (idle && may_foresee(engine))
        foresee(engine);
    else
        engine_foresee(engine);
    if (engine->foresight.forecast != NULL || engine->foresight.is_due)
        return false;
    if (!TAILQ_EMPTY(&engine->queues.ready) || !idle)
        return !TAILQ_EMPTY(&engine->queues.ready) || make_way(engine);
    while ((job = TAILQ_LAST(&engine->queues.held, job_list)) != NULL)
        let_run(engine, job, SIZE_MAX);
    return !TAILQ_EMPTY(&engine->queues.ready);
}

void engine_give_up_held(struct engine *engine)
{
    struct job *job;

    forget_forecast(engine);
    while ((job = TAILQ_LAST(&engine->queues.held, job_list)) != NULL)
        ask_again(engine, job);
}

void engine_forget_foresight(struct engine *engine)
{
    engine_close_foresight(engine);
    engine->foresight.is_due = !TAILQ_EMPTY(&engine->queues.held);
    engine->foresight.not_before_ms = 0;
}

void engine_close_foresight(struct engine *engine)
{
    forget_forecast(engine);
    free(engine->foresight.steps);
    engine->foresight.steps = NULL;
}
