/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* ---- a new run ---- */

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
    detail_int_unless_0(detail, "repeats", run->repeats);
    detail_int_unless_0(detail, "parent_id", run->parent);
    detail_int_unless_0(detail, "parent_job", run->parent_job);
    free(outcomes);
    return detail_end(detail);
}

int store_add_run(struct store *store, const struct run_new *run, int64_t *id,
                  struct err *err)
{
    const struct value cells[RUN_COLUMN_COUNT] = {
        [RUN_CELL_NAME] = value_text(run->name),
        [RUN_CELL_KIND] = value_text(run->kind),
        [RUN_CELL_STATE] = value_text("running"),
        [RUN_CELL_REASON] = value_text(""),
        [RUN_CELL_SPEC] = value_text(run->spec),
        [RUN_CELL_OVERRIDES] = value_text(run->overrides),
        [RUN_CELL_SPEC_PATH] = value_text(run->spec_path),
        [RUN_CELL_WORK_DIRECTORY] = value_text(run->work_directory),
        [RUN_CELL_SEED] = value_int((int64_t)run->seed),
        [RUN_CELL_ENGINE_PID] = value_int(0),
        [RUN_CELL_BOOT_ID] = value_text(""),
        [RUN_CELL_CREATED_MS] = value_int(run->time_ms),
        [RUN_CELL_REPEATS] = int_unless(run->repeats, 0),
        [RUN_CELL_PARENT_ID] = int_unless(run->parent, 0),
        [RUN_CELL_PARENT_JOB] = int_unless(run->parent_job, 0),
    };

    if (store_change(store, INSERT_RUN, cells, ARRAY_LEN(cells), err) < 0) {
        if (sqlite3_extended_errcode(store->db) == SQLITE_CONSTRAINT_UNIQUE)
            err_set(err, ERR_BUSY, "duplicate name '%s': a run has it",
                    run->name);
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

/* ---- its state ---- */

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

/* ---- columns of a run, one by one ---- */

/* Null: it stays as it is, unless it is reset to null. */
struct column_change {
    struct value value;
    enum run_cell cell;
    bool is_reset;
};

enum { MAX_CHANGES = 6 };

/* Sets them; the event's detail has the same by their names. */
static int change_columns(struct store *store, const struct event *event,
                          const struct column_change *changes, size_t count,
                          struct err *err)
{
    static const char *const names[] = {COLUMN_ENTRIES(RUN_COLUMNS)};
    struct value bound[1 + MAX_CHANGES] = {value_int(event->run)};
    struct event told = *event;
    struct buf sql = BUF_INIT;
    struct buf *detail = detail_start(store);
    size_t bound_count = 1;
    int result;

    for (size_t i = 0; i < count; i++) {
        const struct value *value = &changes[i].value;
        const char *name = names[changes[i].cell];

        if (value->type == VALUE_NULL && !changes[i].is_reset)
            continue;
        buf_printf(&sql, "%s \"%s\" = ?%zu",
                   sql.length == 0 ? "UPDATE run SET" : ",", name,
                   bound_count + 1);
        bound[bound_count++] = *value;
        detail_value(detail, name, value);
    }
    if (bound_count == 1)
        return 0;
    told.detail = detail_end(detail);
    buf_add_string(&sql, " WHERE id = ?1");
    result = store_change_once(store, buf_text(&sql), bound, bound_count, err);
    buf_clear(&sql);
    if (result < 0 || store_expect_change(store, "run", event->run, err) < 0)
        return -1;
    return event_add(store, &told, err);
}

int store_set_run_budget(struct store *store, int64_t run, int64_t trials,
                         int64_t budget_ms, int64_t time_ms, struct err *err)
{
    const struct column_change changes[] = {
        {int_unless(trials, 0), RUN_CELL_BUDGET_TRIALS, false},
        {int_unless(budget_ms, 0), RUN_CELL_BUDGET_TIME_MS, false}};

    return change_columns(store,
                          &(struct event){.run = run,
                                          .time_ms = time_ms,
                                          .event = "budget_changed"},
                          changes, ARRAY_LEN(changes), err);
}

int store_edit_run(struct store *store, const struct run_edit_new *edit,
                   struct err *err)
{
    const struct value none = value_null();
    const struct column_change changes[] = {
        {value_text(edit->spec), RUN_CELL_EDITED_SPEC, false},
        {value_text_or_null(edit->spec_path), RUN_CELL_SPEC_PATH, false},
        {value_text(edit->overrides), RUN_CELL_EDITED_OVERRIDES, false},
        {none, RUN_CELL_BUDGET_TRIALS, edit->resets_trials},
        {none, RUN_CELL_BUDGET_TIME_MS, edit->resets_time},
        {int_unless(edit->retry_base, 0), RUN_CELL_RETRY_BASE, false}};

    return change_columns(store,
                          &(struct event){.run = edit->run,
                                          .time_ms = edit->time_ms,
                                          .event = "edited"},
                          changes, ARRAY_LEN(changes), err);
}

int store_set_run_revision(struct store *store, int64_t run,
                           const char *revision, int64_t time_ms,
                           struct err *err)
{
    const struct column_change change = {value_text(revision),
                                         RUN_CELL_REVISION, false};

    return change_columns(store,
                          &(struct event){.run = run,
                                          .time_ms = time_ms,
                                          .event = "revision_changed"},
                          &change, 1, err);
}

int store_add_origin(struct store *store, int64_t run, const char *detail,
                     int64_t time_ms, struct err *err)
{
    return event_add(store,
                     &(struct event){.run = run,
                                     .time_ms = time_ms,
                                     .event = "origin",
                                     .detail = detail},
                     err);
}

int store_add_note(struct store *store, int64_t run, const char *text,
                   int64_t time_ms, struct err *err)
{
    const struct column_change change = {value_text(text), RUN_CELL_NOTE,
                                         false};

    return change_columns(
        store, &(struct event){.run = run, .time_ms = time_ms, .event = "note"},
        &change, 1, err);
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
