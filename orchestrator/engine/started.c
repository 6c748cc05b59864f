/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/started.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/transaction.h"

/*
 * Executors report by the attempt's id, perhaps late or twice: an attempt that
 * is not live, or has ended, changes nothing. A new handle is written down; one
 * that is in the record already is not.
 */

/* What is new of it: NULL where that is in the record. */
static const char *new_handle(struct job *job, const char *handle)
{
    char text[JOB_HANDLE_MAX];

    snprintf(text, sizeof(text), "%s", handle);
    if (text[0] == '\0' || strcmp(text, job->handle) == 0)
        return NULL;
    memcpy(job->handle, text, sizeof(text));
    return job->handle;
}

void engine_on_queued(void *user, int64_t attempt, const char *handle)
{
    struct engine *engine = user;
    struct job *job = engine_find_live(engine, attempt);
    struct attempt_change change = {.run = engine->run->id,
                                    .attempt = attempt,
                                    .pid = -1,
                                    .time_ms = clock_wall_ms()};
    struct err err;

    if (job == NULL || job->has_ended || job->state != JOB_READY)
        return;
    change.job = job->id;
    change.handle = new_handle(job, handle);
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, job->number, "queued handle=%s",
        handle);
    engine->queues.queued_count += !job->is_queued;
    job->is_queued = true;
    if (change.handle != NULL && engine_begin(engine) &&
        store_set_attempt_queued(engine->store, &change, &err) != 0)
        engine_break(engine, &err);
}

void engine_on_started(void *user, int64_t attempt,
                       const struct attempt_place *place)
{
    struct engine *engine = user;
    struct job *job = engine_find_live(engine, attempt);
    struct attempt_change change = {.run = engine->run->id,
                                    .attempt = attempt,
                                    .pid = place->pid,
                                    .node = place->node[0] != '\0' ? place->node
                                                                   : NULL,
                                    .time_ms = clock_wall_ms()};
    struct err err;

    if (job == NULL || job->state != JOB_READY || !engine_begin(engine))
        return;
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, job->number,
        "claim read attempt=%" PRId64 " pid=%" PRId64 " node=%s handle=%s",
        job->attempt_number, place->pid, place->node, place->handle);
    engine_end_shortage(engine);
    engine_dequeue(engine, job);
    job->started_ms = change.time_ms;
    change.job = job->id;
    change.handle = new_handle(job, place->handle);
    snprintf(job->node, sizeof(job->node), "%s", place->node);
    if (store_set_attempt_running(engine->store, &change, &err) != 0)
        engine_break(engine, &err);
    else
        engine_change_trial(engine, job, EVENT_STARTED, NULL);
}
