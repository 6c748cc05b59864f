/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/value.h"
#include "store/event.h"
#include "store/store_impl.h"

/* ---- runs ---- */

static int add_objectives(struct store *store, const struct run_new *run,
                          int64_t id, struct err *err)
{
    for (size_t i = 0; i < run->objective_count; i++) {
        if (store_change(store, INSERT_RUN_OBJECTIVE,
                         VALUES(value_int(id), value_int((int64_t)i),
                                value_text(run->metrics[i]),
                                value_text(run->goals[i])),
                         err) < 0)
            return -1;
    }
    return 0;
}

static struct value bound(double limit)
{
    return isfinite(limit) ? value_real(limit) : value_null();
}

static int add_outcomes(struct store *store, const struct run_new *run,
                        int64_t id, struct err *err)
{
    for (size_t i = 0; i < run->outcome_count; i++) {
        const struct outcome_bounds *outcome = &run->outcomes[i];

        if (store_change(store, INSERT_RUN_OUTCOME,
                         VALUES(value_int(id), value_int((int64_t)i),
                                value_text(outcome->metric),
                                bound(outcome->min), bound(outcome->max)),
                         err) < 0)
            return -1;
    }
    return 0;
}

static int add_params(struct store *store, const struct run_new *run,
                      int64_t id, struct err *err)
{
    for (size_t i = 0; i < run->param_count; i++) {
        if (store_change(store, INSERT_RUN_PARAM,
                         VALUES(value_int(id), value_int((int64_t)i),
                                value_text(run->params[i])),
                         err) < 0)
            return -1;
    }
    return 0;
}

static int add_rungs(struct store *store, const struct run_new *run, int64_t id,
                     struct err *err)
{
    for (size_t i = 0; i < run->rung_count; i++) {
        const struct rung_new *rung = &run->rungs[i];

        if (store_change(store, INSERT_RUN_RUNG,
                         VALUES(value_int(id), value_int(rung->bracket),
                                value_int(rung->rung),
                                value_int(rung->resource),
                                int_unless(rung->trials, 0)),
                         err) < 0)
            return -1;
    }
    return 0;
}

static int add_steps(struct store *store, const struct run_new *run, int64_t id,
                     struct err *err)
{
    for (size_t i = 0; i < run->step_count; i++) {
        if (store_change(store, INSERT_RUN_STEP,
                         VALUES(value_int(id), value_int((int64_t)i),
                                value_text(run->steps[i])),
                         err) < 0)
            return -1;
    }
    return 0;
}

static void detail_rungs(struct buf *detail, const struct run_new *run)
{
    struct value *rungs = mem_array(4 * run->rung_count, sizeof(*rungs));

    for (size_t i = 0; i < run->rung_count; i++) {
        rungs[4 * i] = value_int(run->rungs[i].bracket);
        rungs[4 * i + 1] = value_int(run->rungs[i].rung);
        rungs[4 * i + 2] = value_int(run->rungs[i].resource);
        rungs[4 * i + 3] = int_unless(run->rungs[i].trials, 0);
    }
    detail_values(detail, "rungs", rungs, 4 * run->rung_count);
    free(rungs);
}

/* All that defines the run: with it, the log alone tells what the run is. */
static const char *run_detail(struct store *store, const struct run_new *run)
{
    struct buf *detail = detail_start(store);
    struct value *outcomes =
        mem_array(3 * run->outcome_count, sizeof(*outcomes));

    for (size_t i = 0; i < run->outcome_count; i++) {
        outcomes[3 * i] = value_text(run->outcomes[i].metric);
        outcomes[3 * i + 1] = bound(run->outcomes[i].min);
        outcomes[3 * i + 2] = bound(run->outcomes[i].max);
    }
    detail_text(detail, "state", "running");
    detail_text(detail, "name", run->name);
    detail_text(detail, "kind", run->kind);
    detail_text(detail, "spec", run->spec);
    detail_text(detail, "overrides", run->overrides);
    detail_text(detail, "spec_path", run->spec_path);
    detail_text(detail, "work_directory", run->work_directory);
    detail_int(detail, "seed", (int64_t)run->seed);
    detail_texts(detail, "metrics", run->metrics, run->objective_count);
    detail_texts(detail, "goals", run->goals, run->objective_count);
    detail_texts(detail, "params", run->params, run->param_count);
    detail_values(detail, "outcomes", outcomes, 3 * run->outcome_count);
    if (run->rung_count > 0)
        detail_rungs(detail, run);
    if (run->step_count > 0)
        detail_texts(detail, "steps", run->steps, run->step_count);
    detail_int_unless_0(detail, "parent_id", run->parent);
    detail_int_unless_0(detail, "parent_job", run->parent_job);
    free(outcomes);
    return detail_end(detail);
}

int store_add_run(struct store *store, const struct run_new *run, int64_t *id,
                  struct err *err)
{
    if (store_change(
            store, INSERT_RUN,
            VALUES(value_text(run->name), value_text(run->kind),
                   value_text(run->spec), value_text(run->overrides),
                   value_text(run->spec_path), value_text(run->work_directory),
                   value_int((int64_t)run->seed), value_int(run->time_ms),
                   int_unless(run->parent, 0), int_unless(run->parent_job, 0)),
            err) < 0) {
        if (sqlite3_extended_errcode(store->db) == SQLITE_CONSTRAINT_UNIQUE)
            err_set(err, ERR_BUSY, "there is a run '%s' already", run->name);
        return -1;
    }
    *id = sqlite3_last_insert_rowid(store->db);
    if (add_objectives(store, run, *id, err) < 0 ||
        add_outcomes(store, run, *id, err) < 0 ||
        add_params(store, run, *id, err) < 0 ||
        add_rungs(store, run, *id, err) < 0 ||
        add_steps(store, run, *id, err) < 0)
        return -1;
    return event_add(store,
                     &(struct event){.run = *id,
                                     .time_ms = run->time_ms,
                                     .event = "run_created",
                                     .detail = run_detail(store, run)},
                     err);
}

int store_set_run_state(struct store *store, int64_t run, const char *state,
                        const char *reason, int64_t time_ms, struct err *err)
{
    struct buf *detail;

    if (store_change(store, UPDATE_RUN_STATE,
                     VALUES(value_int(run), value_text(state),
                            value_text(reason == NULL ? "" : reason),
                            value_int(time_ms)),
                     err) < 0 ||
        store_expect_change(store, "run", run, err) < 0)
        return -1;
    detail = detail_start(store);
    detail_text(detail, "state", state);
    detail_text(detail, "reason", reason);
    return event_add(store,
                     &(struct event){.run = run,
                                     .time_ms = time_ms,
                                     .event = "run_state",
                                     .detail = detail_end(detail)},
                     err);
}

int store_set_run_engine(struct store *store, int64_t run, int64_t pid,
                         const char *boot_id, int64_t time_ms, struct err *err)
{
    struct buf *detail;

    if (store_change(store, UPDATE_RUN_ENGINE,
                     VALUES(value_int(run), value_int(pid),
                            value_text(boot_id == NULL ? "" : boot_id),
                            value_int(time_ms)),
                     err) < 0 ||
        store_expect_change(store, "run", run, err) < 0)
        return -1;
    detail = detail_start(store);
    detail_int(detail, "pid", pid);
    detail_text(detail, "boot_id", boot_id);
    return event_add(
        store,
        &(struct event){.run = run,
                        .time_ms = time_ms,
                        .event = pid != 0 ? "engine_started" : "engine_ended",
                        .detail = detail_end(detail)},
        err);
}

/* An event of a run that tells of a time, and changes no row. */
static int add_time_event(struct store *store, const struct event *event,
                          const char *key, int64_t ms, struct err *err)
{
    struct buf *detail = detail_start(store);
    struct event told = *event;

    detail_int(detail, key, ms);
    told.detail = detail_end(detail);
    return event_add(store, &told, err);
}

int store_add_clock_jump(struct store *store, int64_t run, int64_t by_ms,
                         int64_t time_ms, struct err *err)
{
    return add_time_event(store,
                          &(struct event){.run = run,
                                          .time_ms = time_ms,
                                          .event = "clock_jumped"},
                          "by_ms", by_ms, err);
}

int store_add_time_used_up(struct store *store, int64_t run, int64_t after_ms,
                           int64_t time_ms, struct err *err)
{
    return add_time_event(store,
                          &(struct event){.run = run,
                                          .time_ms = time_ms,
                                          .event = "time_used_up"},
                          "after_ms", after_ms, err);
}

int store_set_run_paused(struct store *store, int64_t run, bool is_paused,
                         int64_t time_ms, struct err *err)
{
    if (store_change(
            store, UPDATE_RUN_PAUSED,
            VALUES(value_int(run), int_unless(is_paused ? time_ms : 0, 0)),
            err) < 0)
        return -1;
    if (sqlite3_changes(store->db) == 0)
        return 0;
    return event_add(
        store,
        &(struct event){.run = run,
                        .time_ms = time_ms,
                        .event = is_paused ? "run_paused" : "run_resumed"},
        err);
}

int store_set_run_budget(struct store *store, int64_t run, int64_t trials,
                         int64_t budget_ms, int64_t time_ms, struct err *err)
{
    struct buf *detail;

    if (store_change(store, UPDATE_RUN_BUDGET,
                     VALUES(value_int(run), int_unless(trials, 0),
                            int_unless(budget_ms, 0)),
                     err) < 0 ||
        store_expect_change(store, "run", run, err) < 0)
        return -1;
    detail = detail_start(store);
    detail_int_unless_0(detail, "budget_trials", trials);
    detail_int_unless_0(detail, "budget_time_ms", budget_ms);
    return event_add(store,
                     &(struct event){.run = run,
                                     .time_ms = time_ms,
                                     .event = "budget_changed",
                                     .detail = detail_end(detail)},
                     err);
}

int store_set_run_revision(struct store *store, int64_t run,
                           const char *revision, int64_t time_ms,
                           struct err *err)
{
    struct buf *detail;

    if (store_change(store, UPDATE_RUN_REVISION,
                     VALUES(value_int(run), value_text(revision)), err) < 0 ||
        store_expect_change(store, "run", run, err) < 0)
        return -1;
    detail = detail_start(store);
    detail_text(detail, "revision", revision);
    return event_add(store,
                     &(struct event){.run = run,
                                     .time_ms = time_ms,
                                     .event = "revision_changed",
                                     .detail = detail_end(detail)},
                     err);
}

int store_delete_run(struct store *store, int64_t run, struct err *err)
{
    if (store_change(store, DELETE_RUN, VALUES(value_int(run)), err) < 0)
        return -1;
    return sqlite3_changes(store->db) > 0
               ? 0
               : err_set(err, ERR_FAILED, "store '%s': no run %" PRId64,
                         store->path, run);
}

/* ---- jobs ---- */

static int add_param_values(struct store *store, const struct job_new *job,
                            int64_t id, struct err *err)
{
    for (size_t i = 0; i < job->param_count; i++) {
        const struct value *value = &job->params[i];

        if (value->type == VALUE_NULL)
            continue;
        if (store_change(store, INSERT_PARAM_VALUE,
                         VALUES(value_int(id), value_int((int64_t)i), *value,
                                value_bool(value->type == VALUE_BOOL)),
                         err) < 0)
            return -1;
    }
    return 0;
}

static int take_enqueued(struct store *store, const struct job_new *job,
                         struct err *err)
{
    if (job->enqueued == 0)
        return 0;
    if (store_change(store, TAKE_ENQUEUED,
                     VALUES(value_int(job->run), value_int(job->enqueued),
                            value_int(job->number)),
                     err) < 0)
        return -1;
    return store_expect_change(store, "enqueued setting", job->enqueued, err);
}

static void detail_assignment(struct buf *detail, const struct job_new *job)
{
    if (job->resource == 0)
        return;
    detail_int(detail, "bracket", job->bracket);
    detail_int(detail, "rung", job->rung);
    detail_int(detail, "resource", job->resource);
    detail_int_unless_0(detail, "parent", job->parent);
}

static void detail_copy(struct buf *detail, const struct job_new *job)
{
    detail_int(detail, "step", job->step);
    detail_int(detail, "copy", job->copy);
    detail_int_unless_0(detail, "round", job->round);
    detail_text(detail, "rounds", job->rounds);
}

int store_add_job(struct store *store, const struct job_new *job, int64_t *id,
                  struct err *err)
{
    bool is_assigned = job->resource != 0, is_step = job->step >= 0;
    struct buf *detail;

    if (store_change(
            store, INSERT_JOB,
            VALUES(value_int(job->run), value_int(job->number),
                   value_text(job->state), value_int((int64_t)job->cursor),
                   value_int(job->time_ms), value_int(job->seen),
                   value_text(job->reason), int_unless(job->same_as, 0),
                   is_assigned ? value_int(job->bracket) : value_null(),
                   is_assigned ? value_int(job->rung) : value_null(),
                   int_unless(job->resource, 0), int_unless(job->parent, 0),
                   int_unless(job->step, -1),
                   is_step ? value_int(job->copy) : value_null(),
                   is_step ? int_unless(job->round, 0) : value_null(),
                   value_text(is_step ? job->rounds : NULL)),
            err) < 0)
        return -1;
    *id = sqlite3_last_insert_rowid(store->db);
    if (add_param_values(store, job, *id, err) < 0 ||
        take_enqueued(store, job, err) < 0)
        return -1;
    detail = detail_start(store);
    detail_text(detail, "state", job->state);
    detail_int(detail, "number", job->number);
    detail_int(detail, "cursor", (int64_t)job->cursor);
    detail_int(detail, "seen", job->seen);
    detail_int_unless_0(detail, "same_as", job->same_as);
    detail_assignment(detail, job);
    if (is_step)
        detail_copy(detail, job);
    detail_int_unless_0(detail, "enqueued", job->enqueued);
    detail_text(detail, "reason", job->reason);
    detail_values(detail, "params", job->params, job->param_count);
    return event_add(store,
                     &(struct event){.run = job->run,
                                     .job = *id,
                                     .time_ms = job->time_ms,
                                     .event = is_step ? "created" : "suggested",
                                     .detail = detail_end(detail)},
                     err);
}

static const char *job_detail(struct store *store,
                              const struct job_change *change)
{
    struct buf *detail = detail_start(store);

    detail_text(detail, "state", change->state);
    detail_text(detail, "cause", change->cause);
    detail_int_unless_0(detail, "started_ms", change->started_ms);
    detail_int_unless_0(detail, "ended_ms", change->ended_ms);
    detail_int_unless_0(detail, "due_ms", change->due_ms);
    detail_int_unless_0(detail, "told", change->told);
    detail_text(detail, "verdict", change->verdict);
    detail_text(detail, "outputs", change->outputs);
    detail_text(detail, "cache_key", change->cache_key);
    detail_int_unless_0(detail, "cached_from", change->cached_from);
    if (change->values != NULL && change->value_count > 0)
        detail_reals(detail, "values", change->values, change->value_count);
    if (change->outcomes != NULL && change->outcome_count > 0)
        detail_reals(detail, "outcomes", change->outcomes,
                     change->outcome_count);
    if (change->violation != 0.0)
        detail_reals(detail, "violation", &change->violation, 1);
    return detail_end(detail);
}

static int set_values(struct store *store, const struct job_change *change,
                      struct err *err)
{
    struct value job = value_int(change->job);

    for (size_t i = 0; change->values != NULL && i < change->value_count; i++) {
        if (store_change(store, REPLACE_JOB_VALUE,
                         VALUES(job, value_int((int64_t)i),
                                value_int(change->run),
                                value_real(change->values[i])),
                         err) < 0)
            return -1;
    }
    for (size_t i = 0; change->outcomes != NULL && i < change->outcome_count;
         i++) {
        if (store_change(store, REPLACE_JOB_OUTCOME,
                         VALUES(job, value_int((int64_t)i),
                                value_real(change->outcomes[i])),
                         err) < 0)
            return -1;
    }
    return 0;
}

int store_change_job(struct store *store, const struct job_change *change,
                     struct err *err)
{
    if (store_change(
            store, UPDATE_JOB,
            VALUES(value_int(change->job), value_int(change->run),
                   value_text(change->state), value_text(change->cause),
                   int_unless(change->started_ms, 0),
                   int_unless(change->ended_ms, 0),
                   int_unless(change->due_ms, 0), value_real(change->violation),
                   int_unless(change->told, 0), value_text(change->outputs),
                   value_text(change->cache_key),
                   int_unless(change->cached_from, 0)),
            err) < 0 ||
        store_expect_change(store, "job", change->job, err) < 0 ||
        set_values(store, change, err) < 0)
        return -1;
    return event_add(store,
                     &(struct event){.run = change->run,
                                     .job = change->job,
                                     .time_ms = change->time_ms,
                                     .event = change->event,
                                     .detail = job_detail(store, change)},
                     err);
}
