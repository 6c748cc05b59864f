/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/engine_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/attempt/refusals.h"
#include "orchestrator/job/launch_trial.h"
#include "orchestrator/job/watch.h"

/* With trials of a millisecond, attempts are prepared this far ahead, so that
 * neither a commit nor the way between processes is ever waited for. */
enum { AHEAD_MS = 40, MAX_AHEAD = 64 };

/* Where thousands may run, the first ones start while the others are still
 * being prepared, and the loop sees to what else is due. */
enum { DISPATCH_MS = 10 };

/* So many are looked at behind one that the executor has refused. */
enum { MAX_BEHIND = 64 };

int64_t engine_active(const struct engine *engine)
{
    return engine->prepared_count + engine->committed_count +
           engine->live_count + engine->asked_count;
}

/* How many attempts there may be at once, those ahead of their turn included.
 * A strategy that learns is never asked before it has to be; and the executor
 * keeps to `parallel` only among what it has started itself. */
static int64_t wanted(const struct engine *engine)
{
    double ahead;

    if (engine->scheduler != NULL ||
        (engine->strategy != NULL && strategy_learns(engine->strategy)) ||
        engine->adopted_count > 0 || isnan(engine->mean_attempt_ms))
        return engine->parallel;
    ahead = floor(AHEAD_MS / (engine->mean_attempt_ms + 0.5));
    return engine->parallel * (1 + (int64_t)fmin(ahead, MAX_AHEAD));
}

static void wake_due(struct engine *engine)
{
    int64_t now_ms = clock_monotonic_ms();
    struct trial *trial;

    while ((trial = TAILQ_FIRST(&engine->waiting)) != NULL &&
           trial->due_ms <= now_ms) {
        if (!engine_change_trial(engine, trial, EVENT_DUE, NULL))
            return;
        TAILQ_REMOVE(&engine->waiting, trial, link);
        TAILQ_INSERT_TAIL(&engine->ready, trial, link);
    }
}

void engine_wait(struct engine *engine, struct trial *trial)
{
    struct trial *before = TAILQ_LAST(&engine->waiting, trial_list);

    while (before != NULL && before->due_ms > trial->due_ms)
        before = TAILQ_PREV(before, trial_list, link);
    if (before != NULL)
        TAILQ_INSERT_AFTER(&engine->waiting, before, trial, link);
    else
        TAILQ_INSERT_HEAD(&engine->waiting, trial, link);
}

/* A trial goes into the ready list, or what the schedule wants first is done;
 * false when there is nothing to be had. */
static bool begin_next(struct engine *engine)
{
    if (engine->steps != NULL)
        return engine_steps_next(engine);
    return engine->scheduler != NULL ? engine_schedule_next(engine)
                                     : engine_suggest(engine, NULL, NULL);
}

static bool add_attempt(struct engine *engine, struct trial *trial)
{
    char *directory = workspace_attempt_directory(
        engine->workspaces, trial->number, trial->attempt_number + 1);
    struct attempt_new attempt = {
        .run = engine->run->id,
        .job = trial->job,
        .number = trial->attempt_number + 1,
        .directory = directory + strlen(store_directory(engine->store)) + 1,
        .resource = trial->resource,
        .resource_from = trial->from,
        .time_ms = clock_wall_ms(),
    };
    struct err err;
    bool added = engine_begin(engine);

    if (added && store_add_attempt(engine->store, &attempt, &trial->attempt,
                                   &err) != 0) {
        engine_break(engine, &err);
        added = false;
    }
    if (added)
        trial->attempt_number++;
    free(directory);
    return added;
}

/* NULL where it cannot be started; the next attempt's files are shared out
 * anew. */
static struct launch *make_launch(struct engine *engine, struct trial *trial,
                                  struct err *err)
{
    struct launch *launch = NULL;

    if (trial->unshared != NULL)
        *err = *trial->unshared;
    else if (engine->steps != NULL)
        launch = steps_launch(engine->steps, &engine->site, trial, err);
    else
        launch = launch_trial(&engine->site, engine->experiment, trial, err);
    free(trial->unshared);
    trial->unshared = NULL;
    trial->is_shared = false;
    return launch;
}

/* A ready trial gets an attempt, in the open transaction; but where another
 * one's result may do, that is looked for first, and where it has a share of
 * files, that is made first. */
static bool prepare(struct engine *engine, struct trial *trial)
{
    struct err err;

    if (engine_cache_ask(engine, trial) || engine_share_out(engine, trial))
        return true;
    engine_schedule_begin(engine, trial);
    if (!add_attempt(engine, trial))
        return false;
    trial->launch = make_launch(engine, trial, &err);
    if (trial->launch != NULL && !engine_add_reserves(engine, trial, &err)) {
        launch_destroy(trial->launch);
        trial->launch = NULL;
    }
    if (trial->launch == NULL && err.kind == ERR_FAILED) {
        engine_break(engine, &err);
        return false;
    }
    TAILQ_REMOVE(&engine->ready, trial, link);
    if (trial->launch == NULL) {
        engine_settle_unstarted(engine, trial, &err);
        return true;
    }
    TAILQ_INSERT_TAIL(&engine->prepared, trial, link);
    engine->prepared_count++;
    return true;
}

/* Trials that start again after the next commit: they come before new ones. */
static int64_t count_returning(const struct engine *engine)
{
    const struct trial *trial;
    int64_t count = 0;

    TAILQ_FOREACH(trial, &engine->settled, link)
    {
        if (trial->state == JOB_READY)
            count++;
    }
    return count;
}

/* Nothing is to be had. Where that does not hang on results, nothing will be:
 * folders are better removed while the last trials run than after them. */
static void end_spare(struct engine *engine)
{
    if (engine->steps == NULL && engine->scheduler == NULL)
        workspaces_remove_spare(engine->workspaces);
}

void engine_dispatch(struct engine *engine)
{
    int64_t returning = count_returning(engine);
    int64_t until_ms = clock_monotonic_ms() + DISPATCH_MS;

    engine->has_more_to_dispatch = false;
    if (engine->phase != PHASE_RUNNING)
        return;
    wake_due(engine);
    while (engine->phase == PHASE_RUNNING && !engine_is_held(engine) &&
           engine_active(engine) + returning < wanted(engine)) {
        struct trial *first = TAILQ_FIRST(&engine->ready);

        if (!(first != NULL ? prepare(engine, first) : begin_next(engine))) {
            end_spare(engine);
            return;
        }
        engine_check_budget(engine); /* a step of the schedule is a result */
        engine->has_more_to_dispatch = clock_monotonic_ms() >= until_ms;
        if (engine->has_more_to_dispatch)
            return;
    }
}

static void hand_over(struct engine *engine, struct trial *trial)
{
    TAILQ_REMOVE(&engine->committed, trial, link);
    engine->committed_count--;
    trial->watch =
        watch_create(launch_spec(trial->launch)->directory,
                     trial->task->metrics, engine->reported, trial->from);
    LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, trial->number,
        "handed over attempt=%" PRId64 " directory=%s", trial->attempt_number,
        launch_spec(trial->launch)->directory);
    launch_destroy(trial->launch);
    trial->launch = NULL;
    trial->lacks = 0;
    engine_track_live(engine, trial);
    if (trial->is_promoted)
        engine_report_promoted(engine, trial);
}

/* Returns the one to try next, if any can start. */
static struct trial *start_committed(struct engine *engine, struct trial *trial,
                                     struct refusals *refusals)
{
    const struct attempt_spec *spec = launch_spec(trial->launch);
    struct trial *next = TAILQ_NEXT(trial, link);
    struct err err;

    if (refusals_hold_back(refusals, spec))
        return next;
    switch (executor_start(trial->executor, spec, &trial->lacks, &err)) {
    case START_OK:
        hand_over(engine, trial);
        return next;
    case START_FULL:
        return refusals_add(refusals, spec, trial->lacks) ? next : NULL;
    case START_ERROR:
        break;
    }
    TAILQ_REMOVE(&engine->committed, trial, link);
    engine->committed_count--;
    engine_settle_unstarted(engine, trial, &err);
    refusals->count = 0; /* that may have changed the list */
    return TAILQ_FIRST(&engine->committed);
}

/* What one executor refuses says nothing of another. */
static void start_with(struct engine *engine, const struct executor *executor)
{
    struct refusals refusals = {.count = 0};
    struct trial *trial = TAILQ_FIRST(&engine->committed);
    int behind = 0;

    while (trial != NULL && behind < MAX_BEHIND &&
           engine->phase == PHASE_RUNNING && !engine_is_held(engine)) {
        if (trial->executor != executor) {
            trial = TAILQ_NEXT(trial, link);
            continue;
        }
        trial = start_committed(engine, trial, &refusals);
        behind += refusals.count > 0;
    }
}

void engine_start_committed(struct engine *engine)
{
    for (size_t i = 0; i < engine->executor_count; i++)
        start_with(engine, engine->executors[i]);
}

/* The folders come after the commit: it often takes them along, as it does on
 * ext4 where the log grows. Where it is written over, it does not. */
void engine_submit(struct engine *engine)
{
    struct err err;

    if (engine->prepared_count > 0 &&
        workspaces_sync(engine->workspaces, &err) != 0) {
        engine_break(engine, &err);
        return;
    }
    TAILQ_CONCAT(&engine->committed, &engine->prepared, link);
    engine->committed_count += engine->prepared_count;
    engine->prepared_count = 0;
    engine_start_committed(engine);
}
