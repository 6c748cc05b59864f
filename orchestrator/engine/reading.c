/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mask.h"
#include "orchestrator/engine/core/log.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/core/warn.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/engine/started.h"
#include "orchestrator/job/metric_files.h"
#include "orchestrator/job/retry.h"

/*
 * The files of live jobs are read in turns, for there may be thousands; a job
 * that has ended is settled when all that it wrote has been read. Until then,
 * or while what it made is hashed (SEAL_WAITS), it stays live.
 */

/* What a rule may look at: what a trial dies of it says last. */
enum { RETRY_LOG_BYTES = 256 << 10 };

struct reader {
    struct engine *engine;
    struct job *trial;
};

static void on_metric(void *user, const struct metric_point *point)
{
    const struct reader *reader = user;
    const struct experiment *experiment = reader->engine->experiment;

    if (reader->trial->first_ms == 0)
        reader->trial->first_ms = clock_wall_ms();
    if (experiment->objective_count > 0 &&
        strcmp(point->name, experiment->objectives[0].metric) == 0)
        reader->trial->value_count++;
    reader->engine->source->follow(reader->engine, reader->trial, point);
}

/* What a trial said is not known: nothing may be concluded from that. */
static void put_off(struct engine *engine, const struct err *err)
{
    if (err->kind == ERR_SHORTAGE)
        engine_begin_shortage(engine, err->text);
    else
        engine_break(engine, err);
}

/* What is less is not long enough to tell blocks from lines. */
enum { BUFFERED_RUN_MS = 3000, BUFFERED_VALUES = 3 };

/* Whether all values came within the last tenth of its time. Those of a program
 * that takes long to start may, too: this is no proof of a buffer. */
static bool was_buffered(const struct job *job)
{
    int64_t took_ms = job->end.ended_ms - job->end.started_ms;

    return !job->is_adopted && job->end.started_ms > 0 &&
           took_ms >= BUFFERED_RUN_MS && job->value_count >= BUFFERED_VALUES &&
           job->first_ms - job->end.started_ms > took_ms - took_ms / 10;
}

/* Of the first trial: others have the same program. */
static void warn_of_buffering(struct engine *engine, const struct job *job)
{
    if (was_buffered(job))
        engine_warn_once(
            engine, &engine->has_told_of_buffering,
            "trial %" PRId64 " ran %.1f s, and all %" PRId64
            " values of '%s' came at its end. If its program buffers the "
            "output, let it flush after each value, start it with 'stdbuf "
            "-oL', or write 'trial: {tty: true}'",
            job->number,
            (double)(job->end.ended_ms - job->end.started_ms) / 1000.0,
            job->value_count, engine->experiment->objectives[0].metric);
}

/* All that the trial said has been read. -1 where what it made, or a retry rule
 * wants to know, cannot be had now. */
static int settle_ended(struct engine *engine, struct job *job, struct err *err)
{
    const struct attempt_exit *end = &job->end;
    struct reader reader = {engine, job};
    struct buf log = BUF_INIT;
    int result = 1;

    if (job->seal == SEAL_NONE) {
        metric_files_finish(job->metric_files, end->cause == CAUSE_OK,
                            on_metric, &reader);
        warn_of_buffering(engine, job);
        result = engine->source->judge(engine, job, err);
    }
    if (result <= 0)
        return result;
    result = 0;
    if (retry_wants_log(job->spec->retries, job->spec->retry_count, end))
        result = metric_files_read_log_end(job->metric_files, RETRY_LOG_BYTES,
                                           &log, err);
    if (result == 0) {
        engine_untrack_live(engine, job);
        engine_settle(engine, job, &log);
    }
    buf_clear(&log);
    return result;
}

/* Reads on, once the trial has started; settles it when it has ended and all is
 * read. Else it goes to its place among the live ones: first where there is
 * more, last where not. */
static void read_trial(struct engine *engine, struct job *job)
{
    struct reader reader = {engine, job};
    struct err err;
    int more = 0;

    if (job->state == JOB_RUNNING || job->has_ended)
        more = metric_files_read(job->metric_files, on_metric, &reader, &err);
    if (!job->has_ended)
        engine->source->look(engine, job);
    if (job->has_ended && more == 0 && job->seal != SEAL_WAITS) {
        more = settle_ended(engine, job, &err);
        if (more == 0 && job->seal != SEAL_WAITS)
            return;
    }
    if (more < 0)
        put_off(engine, &err);
    if (more > 0)
        engine_read_first(engine, job);
    else
        engine_read_last(engine, job);
}

static bool read_on(struct engine *engine)
{
    struct job *job, *next;

    for (job = TAILQ_FIRST(&engine->queues.live); job != NULL && job->has_more;
         job = next) {
        next = TAILQ_NEXT(job, link);
        read_trial(engine, job);
    }
    return engine_has_more(engine);
}

bool engine_read_trials(struct engine *engine, int64_t count)
{
    struct job *job = TAILQ_FIRST(&engine->queues.live), *next;

    while (job != NULL && job->has_more)
        job = TAILQ_NEXT(job, link);
    for (; job != NULL && count > 0; job = next, count--) {
        next = TAILQ_NEXT(job, link);
        read_trial(engine, job);
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

/* It may quote a line of `setup`, or the last one of the output, and goes
 * wherever the end is shown. */
static void mask_text(const struct engine *engine, struct attempt_exit *end)
{
    struct buf shown = BUF_INIT;

    mask_add(engine->mask, end->text, strlen(end->text), &shown);
    snprintf(end->text, sizeof(end->text), "%s", buf_text(&shown));
    buf_clear(&shown);
}

void engine_on_ended(void *user, const struct attempt_exit *end)
{
    struct engine *engine = user;
    struct job *job = engine_find_live(engine, end->attempt);
    const struct attempt_place place = {0, end->node, ""};

    if (job == NULL || job->has_ended)
        return;
    engine_log_exit(engine, job, end);
    if (end->started_ms > 0)
        engine_on_started(engine, end->attempt, &place); /* if not known yet */
    job->end = *end;
    mask_text(engine, &job->end);
    if (end->started_ms == 0 && job->state == JOB_RUNNING)
        job->end.started_ms = job->started_ms;
    if (job->end.started_ms > 0 && end->ended_ms > job->end.started_ms)
        job->ran_ms += end->ended_ms - job->end.started_ms;
    if (end->node[0] == '\0')
        memcpy(job->end.node, job->node, sizeof(job->node));
    job->has_ended = true;
    read_trial(engine, job);
    if (job->has_more)
        engine_keep_reading(engine);
}
