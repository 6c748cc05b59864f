/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/recover_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/watch.h"
#include "orchestrator/run/enqueue.h"
#include "orchestrator/search/search.h"
#include "orchestrator/search/told.h"

/*
 * Taking up a run where an earlier engine left it. The strategy goes through
 * what it went through then: trials in the order of their numbers, and between
 * them the results that were known when each was suggested. What is not over
 * becomes a trial in memory again. An attempt that has no end in the
 * record is asked for at the executor: it may still run, have ended
 * meanwhile, or never have been started.
 */

/* What was told up to that place. */
static void tell_until(struct recovery *recovery, int64_t place)
{
    const struct told_item *item;

    while ((item = told_next(recovery->told, place)) != NULL)
        engine_account(recovery->engine, item, NULL);
}

/* The record knows the wall clock alone, which may have been put anywhere
 * since: nobody waits longer than a rule says. */
static int64_t remaining_ms(const struct task *task, int64_t due_ms)
{
    int64_t left_ms = due_ms - clock_wall_ms();
    int64_t longest_ms = retry_delay_ms(&retry_default, retry_default.max, 1);

    for (size_t i = 0; i < task->retry_count; i++) {
        const struct retry_rule *rule = &task->retries[i];
        int64_t ms = retry_delay_ms(rule, rule->max, 1);

        if (ms > longest_ms)
            longest_ms = ms;
    }
    return left_ms < longest_ms ? left_ms : longest_ms;
}

void recovery_place(struct recovery *recovery, struct trial *trial,
                    const struct trial_row *row)
{
    struct engine *engine = recovery->engine;

    if (trial->state != JOB_WAITING) {
        TAILQ_INSERT_TAIL(&engine->ready, trial, link);
        return;
    }
    trial->due_ms =
        clock_monotonic_ms() + remaining_ms(trial->task, row->due_ms);
    engine_wait(engine, trial);
}

static void keep_trial(struct recovery *recovery, const struct trial_row *row,
                       enum job_state state)
{
    struct engine *engine = recovery->engine;
    struct trial *trial = engine_create_trial(engine, row->number);

    trial->job = row->job;
    trial->state = state;
    trial->is_scheduled = row->resource > 0;
    trial->resource = row->resource;
    trial->parent = row->parent;
    if (engine->scheduler != NULL && !trial->is_scheduled)
        trial->resource = (int64_t)engine->experiment->schedule.options.max;
    memcpy(trial->point, recovery->point,
           space_count(engine->experiment->space) * sizeof(*trial->point));
    recovery_place(recovery, trial, row);
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct recovery *recovery = user;
    struct engine *engine = recovery->engine;
    struct assignment assignment;
    enum job_state state;

    if (search_point(engine->experiment->space, row, recovery->point,
                     recovery->err) != 0 ||
        told_add(recovery->told, row, recovery->err) != 0)
        return -1;
    tell_until(recovery, row->seen);
    strategy_restore(engine->strategy, (uint64_t)row->number, recovery->point,
                     row->cursor);
    if (engine->convergence != NULL)
        convergence_ask(engine->convergence, (uint64_t)row->number,
                        recovery->point);
    if (told_assignment(row, &assignment))
        scheduler_assign(engine->scheduler, (uint64_t)row->number, &assignment);
    engine->tally.suggested++;
    state = (enum job_state)job_state_find(row->state);
    engine->paused_trials += state == JOB_PAUSED;
    if (!job_is_final(state) && state != JOB_PAUSED)
        keep_trial(recovery, row, state);
    return 0;
}

/* An attempt of a trial that is not over: counts its retry and scales what the
 * next one has, or, when it has no end yet, makes it the trial's current one.
 */
static int on_attempt(void *user, const struct attempt_row *row)
{
    struct recovery *recovery = user;
    struct trial *trial = recovery->trial;
    const struct task *task = trial->task;
    const struct retry_machine machine = {executor_cpus(trial->executor),
                                          executor_gpus(trial->executor)};

    trial->attempt_number = row->number;
    if (row->cause != NULL && row->number > recovery->superseded.attempts)
        recovery_follow_link(trial, row);
    if (row->number <= recovery->superseded.attempts_succeeded)
        recovery->last_attempt = row->id;
    recovery->ended_ms = row->ended_ms;
    if (row->number > recovery->superseded.attempts)
        trial->displaced += row->is_displaced;
    if (row->cause == NULL) {
        trial->attempt = row->id;
        trial->started_ms = row->started_ms;
        trial->from = row->resource_from;
        snprintf(trial->handle, sizeof(trial->handle), "%s",
                 row->handle != NULL ? row->handle : "");
        snprintf(trial->node, sizeof(trial->node), "%s",
                 row->node != NULL ? row->node : "");
    } else if (row->number > recovery->superseded.attempts && row->rule >= 0 &&
               row->rule <= (int64_t)task->retry_count) {
        const struct retry_rule *rule =
            retry_rule_at(task->retries, task->retry_count, (int)row->rule);

        if (trial->retries_used[row->rule] >= rule->max)
            return 0;
        trial->retries_used[row->rule]++;
        retry_scale(rule, &machine, &trial->resources, &recovery->said);
        if (rule->excludes_node && row->node != NULL)
            trial_avoid(trial, row->node);
    }
    return 0;
}

static int on_metric(void *user, const struct metric_row *row)
{
    struct recovery *recovery = user;

    if (row->attempt == recovery->trial->attempt)
        engine_schedule_reach(recovery->engine, recovery->trial, row->name,
                              row->step);
    if (row->attempt > recovery->last_attempt)
        trial_add_metric(recovery->trial, recovery->engine->experiment,
                         row->name, row->value);
    return 0;
}

/* Puts the current attempt of a trial back into the executor's hands. */
static int reattach(struct recovery *recovery, struct trial *trial)
{
    struct engine *engine = recovery->engine;
    char *directory = workspace_attempt_directory(
        engine->workspaces, trial->number, trial->attempt_number);
    struct attempt_spec spec = {
        .attempt = trial->attempt,
        .directory = directory,
        .work_directory = engine->site.work_directory,
        .cpus = trial->resources.cpus,
        .gpus = trial->resources.gpus,
        .nodes = trial->resources.nodes,
        .tasks = trial->resources.tasks,
        .slurm = &trial->resources.slurm,
        .memory_bytes = trial->resources.memory_bytes,
        .time_ms = trial->resources.time_ms,
        .grace_ms = trial->resources.grace_ms,
        .reserve = trial->reserve,
    };
    int result = -1;

    if (trial->link_rule != NULL) {
        spec.warn_signal = trial->link_rule->signal;
        spec.warn_before_ms = trial->link_rule->before_ms;
    }
    if (fs_make_directories(directory, recovery->err) == 0)
        result = executor_reattach(trial->executor, &spec, recovery->err);
    LOG(engine->log, LOG_EXECUTOR, LOG_INFO, trial->number,
        "attempt=%" PRId64 " of an earlier engine: %s", trial->attempt_number,
        result == 0   ? "taken up"
        : result == 1 ? "never started, its claim is void now"
                      : recovery->err->text);
    if (result == 0) {
        trial->is_adopted = true;
        trial->watch = watch_create(directory, trial->task->metrics,
                                    engine->reported, trial->from);
        engine_track_live(engine, trial);
        if (trial->wish != WISH_NONE)
            executor_cancel(trial->executor, trial->attempt, CANCEL_TERM);
    } else if (result == 1) {
        if (trial->wish != WISH_GIVE_UP)
            trial->wish = WISH_INTERRUPT;
        engine_settle_unstarted(engine, trial, NULL);
        result = 0;
    }
    free(directory);
    return result;
}

/* The due time is by the wall clock. Where that was set back meanwhile, the
 * retry waits no longer than it was to wait when its attempt ended. */
static void bound_wait(struct trial *trial, int64_t ended_ms)
{
    int64_t left_ms = trial->due_ms - clock_monotonic_ms();
    int64_t all_ms = clock_wall_ms() + left_ms - ended_ms;

    if (left_ms > all_ms)
        trial->due_ms -= left_ms - all_ms;
}

static int take_up(struct recovery *recovery, struct trial *trial)
{
    struct store *store = recovery->engine->store;
    int64_t run = recovery->engine->run->id;

    recovery->trial = trial;
    recovery->last_attempt = 0;
    recovery->engine->running_count += trial->state == JOB_RUNNING;
    if (store_sum_superseded(store, run, trial->number, &recovery->superseded,
                             recovery->err) != 0 ||
        store_each_attempt(store, run, trial->job, on_attempt, recovery,
                           recovery->err) != 0 ||
        engine_schedule_take_up(recovery->engine, trial, recovery->err) != 0 ||
        store_each_metric(store, trial->job, on_metric, recovery,
                          recovery->err) != 0)
        return -1;
    trial->is_reopened = recovery->superseded.count > 0;
    recovery->engine->reopened_count += trial->is_reopened;
    if (trial->state == JOB_WAITING)
        bound_wait(trial, recovery->ended_ms);
    if (trial->attempt != 0) {
        TAILQ_REMOVE(&recovery->engine->ready, trial, link);
        TAILQ_INSERT_TAIL(&recovery->open, trial, link);
    }
    return 0;
}

static int take_up_all(struct recovery *recovery)
{
    struct engine *engine = recovery->engine;
    struct trial_list *const lists[] = {&engine->ready, &engine->waiting};
    struct trial *trial, *next;

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (trial = TAILQ_FIRST(lists[i]); trial != NULL; trial = next) {
            next = TAILQ_NEXT(trial, link);
            if (take_up(recovery, trial) != 0)
                return -1;
        }
    }
    while ((trial = TAILQ_FIRST(&recovery->open)) != NULL) {
        TAILQ_REMOVE(&recovery->open, trial, link);
        if (reattach(recovery, trial) != 0) {
            trial_destroy(trial);
            return -1;
        }
    }
    return 0;
}

/* Trials in the order of their numbers, and what was told between them. */
static int read_trials(struct recovery *recovery)
{
    struct engine *engine = recovery->engine;
    struct trial_query query = {.run = engine->run->id, .order = ORDER_NUMBER};
    int result = -1;

    recovery->told = told_create(engine->experiment, engine->store,
                                 engine->run->id, recovery->err);
    if (recovery->told != NULL)
        result = store_each_trial(engine->store, &query, on_trial, recovery,
                                  recovery->err);
    if (result == 0)
        tell_until(recovery, INT64_MAX);
    if (result == 0)
        result = enqueue_load(engine->store, engine->run->id,
                              engine->experiment->space, 0, engine->strategy,
                              recovery->err);
    told_destroy(recovery->told);
    return result;
}

int engine_recover(struct engine *engine, struct err *err)
{
    struct recovery recovery = {
        .engine = engine,
        .err = err,
        .point = mem_array(space_count(engine->experiment->space),
                           sizeof(*recovery.point)),
    };
    struct trial *trial;
    int result;

    TAILQ_INIT(&recovery.open);
    result = store_sum_resource(engine->store, engine->run->id,
                                &engine->tally.resource_used, err);
    if (result == 0)
        result = engine->steps != NULL ? recovery_read_steps(&recovery)
                                       : read_trials(&recovery);
    if (result == 0)
        result = take_up_all(&recovery);
    if (result == 0 && engine->steps != NULL)
        engine_line_up(engine);
    if (result == 0)
        result = store_earlier_engines_ms(engine->store, engine->run->id,
                                          &engine->earlier_ms, err);
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0,
        "record read: suggested=%" PRId64 " ended=%" PRId64
        " elapsed_ms=%" PRId64,
        engine->tally.suggested, tally_ended(&engine->tally),
        engine->earlier_ms);
    while ((trial = TAILQ_FIRST(&recovery.open)) != NULL) {
        TAILQ_REMOVE(&recovery.open, trial, link);
        trial_destroy(trial);
    }
    buf_clear(&recovery.said);
    free(recovery.point);
    return result;
}

/* ---- one trial that was not in memory ---- */

static int on_taken_up(void *user, const struct trial_row *row)
{
    struct recovery *recovery = user;

    if (recovery->engine->steps != NULL)
        return recovery_keep_job(recovery, row, recovery->state);
    if (search_point(recovery->engine->experiment->space, row, recovery->point,
                     recovery->err) != 0)
        return -1;
    keep_trial(recovery, row, recovery->state);
    return 0;
}

int engine_take_up(struct engine *engine, int64_t number, enum job_state state,
                   struct err *err)
{
    struct recovery recovery = {
        .engine = engine,
        .err = err,
        .state = state,
        .point = mem_array(space_count(engine->experiment->space),
                           sizeof(*recovery.point)),
    };
    struct trial_query query = {.run = engine->run->id, .number = number};
    int result;

    result =
        store_each_trial(engine->store, &query, on_taken_up, &recovery, err);
    if (result == 0)
        result = take_up(&recovery, TAILQ_LAST(&engine->ready, trial_list));
    buf_clear(&recovery.said);
    free(recovery.point);
    return result;
}
