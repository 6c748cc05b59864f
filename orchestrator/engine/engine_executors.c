/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The executors of a session, what they tell of attempts, and whose they are.
 */
#include "orchestrator/engine/engine_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "executors/machine/cpus.h"

static void on_broken(void *user, const struct err *err)
{
    engine_break(user, err);
}

static void on_room(void *user)
{
    engine_start_committed(user);
}

/* ---- where attempts are ---- */

/* What is new of it: NULL where that is in the record. */
static const char *new_handle(struct trial *trial, const char *handle)
{
    char text[TRIAL_HANDLE_MAX];

    snprintf(text, sizeof(text), "%s", handle);
    if (text[0] == '\0' || strcmp(text, trial->handle) == 0)
        return NULL;
    memcpy(trial->handle, text, sizeof(text));
    return trial->handle;
}

static void on_queued(void *user, int64_t attempt, const char *handle)
{
    struct engine *engine = user;
    struct trial *trial = engine_find_live(engine, attempt);
    struct attempt_change change = {.run = engine->run->id,
                                    .attempt = attempt,
                                    .pid = -1,
                                    .time_ms = clock_wall_ms()};
    struct err err;

    if (trial == NULL || trial->has_ended || trial->state != JOB_READY)
        return;
    change.job = trial->job;
    change.handle = new_handle(trial, handle);
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, trial->number, "queued handle=%s",
        handle);
    engine->queued_count += !trial->is_queued;
    trial->is_queued = true;
    if (change.handle != NULL && engine_begin(engine) &&
        store_set_attempt_queued(engine->store, &change, &err) != 0)
        engine_break(engine, &err);
}

void engine_dequeue(struct engine *engine, struct trial *trial)
{
    engine->queued_count -= trial->is_queued;
    trial->is_queued = false;
}

void engine_on_started(void *user, int64_t attempt,
                       const struct attempt_place *place)
{
    struct engine *engine = user;
    struct trial *trial = engine_find_live(engine, attempt);
    struct attempt_change change = {.run = engine->run->id,
                                    .attempt = attempt,
                                    .pid = place->pid,
                                    .node = place->node[0] != '\0' ? place->node
                                                                   : NULL,
                                    .time_ms = clock_wall_ms()};
    struct err err;

    if (trial == NULL || trial->state != JOB_READY || !engine_begin(engine))
        return;
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, trial->number,
        "claim read attempt=%" PRId64 " pid=%" PRId64 " node=%s handle=%s",
        trial->attempt_number, place->pid, place->node, place->handle);
    engine_end_hold(engine);
    engine_dequeue(engine, trial);
    trial->started_ms = change.time_ms;
    change.job = trial->job;
    change.handle = new_handle(trial, place->handle);
    snprintf(trial->node, sizeof(trial->node), "%s", place->node);
    if (store_set_attempt_running(engine->store, &change, &err) != 0)
        engine_break(engine, &err);
    else
        engine_change_trial(engine, trial, EVENT_STARTED, NULL);
}

/* ---- life ---- */

static int64_t parallel_of(const struct experiment *experiment,
                           const struct executor_options *executor)
{
    int cpus = executor->cpus;

    if (experiment->budget.parallel > 0)
        return experiment->budget.parallel;
    if (executor->parallel > 0)
        return executor->parallel;
    if (cpus < 0)
        cpus = cpus_find("");
    if (experiment->task.resources.cpus > 1)
        cpus /= experiment->task.resources.cpus;
    return cpus > 0 ? cpus : 1;
}

int64_t engine_find_parallel(const struct run *run)
{
    int64_t most = parallel_of(run->experiment, &run->experiment->executor);
    size_t count = run->workflow != NULL ? run->workflow->executor_count : 0;

    for (size_t i = 0; i < count; i++) {
        int64_t its =
            parallel_of(run->experiment, &run->workflow->executors[i]);

        if (its > most)
            most = its;
    }
    return most;
}

static int open_executor(struct engine *engine, struct executor_options options,
                         struct err *err)
{
    const struct executor_events events = {
        .queued = on_queued,
        .started = engine_on_started,
        .ended = engine_on_ended,
        .room = on_room,
        .broken = on_broken,
        .node = engine_on_node,
        .note = engine_on_note,
        .user = engine,
    };
    struct executor *executor;

    options.parallel = (int)parallel_of(engine->experiment, &options);
    options.state_directory = engine->run->directory;
    options.log = engine->log;
    executor = executor_create(&engine->loop, &options, &events, err);
    if (executor == NULL)
        return -1;
    engine->executors[engine->executor_count++] = executor;
    return 0;
}

int engine_open_executors(struct engine *engine, struct err *err)
{
    const struct workflow *workflow = engine->run->workflow;

    if (workflow == NULL)
        return open_executor(engine, engine->experiment->executor, err);
    for (size_t i = 0; i < workflow->executor_count; i++) {
        if (open_executor(engine, workflow->executors[i], err) != 0)
            return -1;
    }
    return 0;
}

/* ---- whose they are ---- */

struct trial *engine_create_trial(struct engine *engine, int64_t number)
{
    struct trial *trial =
        trial_create(engine->experiment, &engine->experiment->task, number);

    trial->executor = engine->executors[0];
    return trial;
}

struct trial *engine_create_job(struct engine *engine, size_t step,
                                int64_t number)
{
    const struct workflow *workflow = engine->run->workflow;
    const struct step *its = &workflow->steps[step];
    size_t executor = (size_t)(workflow_executor(workflow, its) - //
                               workflow->executors);
    struct trial *job = trial_create(engine->experiment, &its->task, number);

    job->step = (int64_t)step;
    job->link_rule = its->link.max > 0 ? &its->link : NULL;
    job->executor = engine->executors[executor];
    return job;
}
