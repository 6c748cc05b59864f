/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/reading.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "orchestrator/engine/cache.h"
#include "orchestrator/engine/flow_jobs.h"
#include "orchestrator/engine/log.h"
#include "orchestrator/engine/queues.h"
#include "orchestrator/engine/schedule_follow.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/engine/shortage.h"
#include "orchestrator/engine/started.h"
#include "orchestrator/engine/transaction.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/watch.h"

/*
 * The files of live jobs are read in turns, for there may be thousands; a job
 * that has ended is settled when all that it wrote has been read. Until then,
 * or while what it made is hashed (SEAL_WAITS), it stays live.
 */

/* What a rule may look at: what a trial dies of it says last. */
enum { RETRY_LOG_BYTES = 256 << 10 };

struct reader {
    struct engine *engine;
    struct trial *trial;
};

static void on_metric(void *user, const char *name, int64_t step, double value)
{
    struct reader *reader = user;
    struct engine *engine = reader->engine;
    struct trial *trial = reader->trial;
    struct err err;

    if (!engine_schedule_follow(engine, trial, name, step))
        return;
    if (trial_add_metric(trial, engine->experiment, name, value) &&
        engine_begin(engine) &&
        store_add_metric(engine->store,
                         &(struct metric_new){.job = trial->job,
                                              .attempt = trial->attempt,
                                              .name = name,
                                              .step = step,
                                              .value = value,
                                              .time_ms = clock_wall_ms()},
                         &err) != 0)
        engine_break(engine, &err);
    engine_schedule_decide(engine, trial);
}

/* What a trial said is not known: nothing may be concluded from that. */
static void put_off(struct engine *engine, const struct err *err)
{
    if (err->kind == ERR_SHORTAGE)
        engine_hold(engine, err->text);
    else
        engine_break(engine, err);
}

/* It ended well, but without a metric of the file: perhaps under another
 * name. */
static void tell_missing_metric(struct trial *trial, const char *metric)
{
    struct attempt_exit *end = &trial->end;
    struct buf text = BUF_INIT;

    end->cause = CAUSE_NO_METRIC;
    buf_printf(&text, "it never said '%s'", metric);
    for (size_t i = 0; i < trial->curve_count; i++)
        buf_printf(&text, "%s'%s'", i == 0 ? ", but " : ", ",
                   trial->curves[i].name);
    snprintf(end->text, sizeof(end->text), "%.*s", (int)sizeof(end->text) - 1,
             buf_text(&text));
    buf_clear(&text);
}

/* Whether it ended well, by what it said and made: 1 when that is known, 0
 * where what it made is hashed first, -1 where it cannot be read now. */
static int judge_ended(struct engine *engine, struct trial *trial,
                       struct err *err)
{
    struct reader reader = {engine, trial};
    const struct attempt_exit *end = &trial->end;
    const char *missing;

    watch_finish(trial->watch, on_metric, &reader);
    if (engine->steps != NULL)
        steps_judge(engine->steps, trial);
    missing = trial_missing_metric(trial, engine->experiment);
    if (end->cause == CAUSE_OK && missing != NULL)
        tell_missing_metric(trial, missing);
    if (end->cause == CAUSE_OK && engine->steps != NULL &&
        engine_steps_finish(engine, trial, err) != 0)
        return -1;
    return end->cause != CAUSE_OK || !engine_cache_seal(engine, trial);
}

/* All that the trial said has been read. -1 where what it made, or a retry rule
 * wants to know, cannot be had now. */
static int settle_ended(struct engine *engine, struct trial *trial,
                        struct err *err)
{
    const struct attempt_exit *end = &trial->end;
    struct buf log = BUF_INIT;
    int result = 1;

    if (trial->seal == SEAL_NONE)
        result = judge_ended(engine, trial, err);
    if (result <= 0)
        return result;
    result = 0;
    if (retry_wants_log(trial->task->retries, trial->task->retry_count, end))
        result = watch_read_log_end(trial->watch, RETRY_LOG_BYTES, &log, err);
    if (result == 0) {
        engine_untrack_live(engine, trial);
        engine_settle(engine, trial, &log);
    }
    buf_clear(&log);
    return result;
}

/* Reads on, once the trial has started; settles it when it has ended and all is
 * read. Else it goes to its place among the live ones: first where there is
 * more, last where not. */
static void read_trial(struct engine *engine, struct trial *trial)
{
    struct reader reader = {engine, trial};
    struct err err;
    int more = 0;

    if (trial->state == JOB_RUNNING || trial->has_ended)
        more = watch_read(trial->watch, on_metric, &reader, &err);
    if (trial->has_ended && more == 0 && trial->seal != SEAL_WAITS) {
        more = settle_ended(engine, trial, &err);
        if (more == 0 && trial->seal != SEAL_WAITS)
            return;
    }
    if (more < 0)
        put_off(engine, &err);
    if (more > 0)
        engine_read_first(engine, trial);
    else
        engine_read_last(engine, trial);
}

static bool read_on(struct engine *engine)
{
    struct trial *trial, *next;

    for (trial = TAILQ_FIRST(&engine->queues.live);
         trial != NULL && trial->has_more; trial = next) {
        next = TAILQ_NEXT(trial, link);
        read_trial(engine, trial);
    }
    return engine_has_more(engine);
}

bool engine_read_trials(struct engine *engine, int64_t count)
{
    struct trial *trial = TAILQ_FIRST(&engine->queues.live), *next;

    while (trial != NULL && trial->has_more)
        trial = TAILQ_NEXT(trial, link);
    for (; trial != NULL && count > 0; trial = next, count--) {
        next = TAILQ_NEXT(trial, link);
        read_trial(engine, trial);
    }
    return engine_has_more(engine);
}

static void on_busy(uv_idle_t *handle)
{
    if (!read_on(handle->data))
        uv_idle_stop(handle);
}

void engine_keep_reading(struct engine *engine)
{
    uv_idle_start(&engine->busy, on_busy);
}

void engine_on_ended(void *user, const struct attempt_exit *end)
{
    struct engine *engine = user;
    struct trial *trial = engine_find_live(engine, end->attempt);
    const struct attempt_place place = {0, end->node, ""};

    if (trial == NULL || trial->has_ended)
        return;
    engine_log_exit(engine, trial, end);
    if (end->started_ms > 0)
        engine_on_started(engine, end->attempt, &place); /* if not known yet */
    trial->end = *end;
    if (end->started_ms == 0 && trial->state == JOB_RUNNING)
        trial->end.started_ms = trial->started_ms;
    if (end->node[0] == '\0')
        memcpy(trial->end.node, trial->node, sizeof(trial->node));
    trial->has_ended = true;
    read_trial(engine, trial);
    if (trial->has_more)
        engine_keep_reading(engine);
}
