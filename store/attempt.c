/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attempts, and what they say. */
#include <math.h>

#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

int store_add_attempt(struct store *store, const struct attempt_new *attempt,
                      int64_t *id, struct err *err)
{
    const struct value cells[ATTEMPT_COLUMN_COUNT] = {
        [ATTEMPT_CELL_JOB_ID] = value_int(attempt->job),
        [ATTEMPT_CELL_NUMBER] = value_int(attempt->number),
        [ATTEMPT_CELL_STATE] = value_text("starting"),
        [ATTEMPT_CELL_DIRECTORY] = value_text(attempt->directory),
        [ATTEMPT_CELL_CREATED_MS] = value_int(attempt->time_ms),
        [ATTEMPT_CELL_RESOURCE_FROM] = int_unless(attempt->resource_from, 0),
        [ATTEMPT_CELL_RESOURCE] = int_unless(attempt->resource, 0),
    };
    struct buf *detail;

    if (store_change(store, INSERT_ATTEMPT, cells, ARRAY_LEN(cells), err) < 0)
        return -1;
    *id = sqlite3_last_insert_rowid(store->db);
    if (attempt->cache_key != NULL &&
        (store_change(store, SET_CACHE_KEY,
                      VALUES(value_int(attempt->job), value_int(attempt->run),
                             value_text(attempt->cache_key)),
                      err) < 0 ||
         store_expect_change(store, "job", attempt->job, err) < 0))
        return -1;
    detail = detail_start(store);
    detail_int(detail, "number", attempt->number);
    detail_text(detail, "directory", attempt->directory);
    detail_int_unless_0(detail, "resource", attempt->resource);
    detail_int_unless_0(detail, "resource_from", attempt->resource_from);
    detail_text(detail, "cache_key", attempt->cache_key);
    return event_add(store,
                     &(struct event){.run = attempt->run,
                                     .job = attempt->job,
                                     .attempt = *id,
                                     .time_ms = attempt->time_ms,
                                     .event = "attempt_starting",
                                     .detail = detail_end(detail)},
                     err);
}

static int add_event(struct store *store, const char *word,
                     const struct attempt_change *change, struct err *err)
{
    struct buf *detail = detail_start(store);

    if (change->pid >= 0)
        detail_int(detail, "pid", change->pid);
    detail_text(detail, "node", change->node);
    detail_text(detail, "handle", change->handle);
    return event_add(store,
                     &(struct event){.run = change->run,
                                     .job = change->job,
                                     .attempt = change->attempt,
                                     .time_ms = change->time_ms,
                                     .event = word,
                                     .detail = detail_end(detail)},
                     err);
}

int store_set_attempt_queued(struct store *store,
                             const struct attempt_change *change,
                             struct err *err)
{
    if (store_change(store, UPDATE_ATTEMPT_QUEUED,
                     VALUES(value_int(change->attempt),
                            value_text(change->handle),
                            value_int(change->time_ms)),
                     err) < 0 ||
        store_expect_change(store, "starting attempt", change->attempt, err) <
            0)
        return -1;
    return add_event(store, "attempt_queued", change, err);
}

int store_set_attempt_running(struct store *store,
                              const struct attempt_change *change,
                              struct err *err)
{
    if (store_change(store, UPDATE_ATTEMPT_RUNNING,
                     VALUES(value_int(change->attempt), value_int(change->pid),
                            value_int(change->time_ms),
                            value_text(change->node),
                            value_text(change->handle)),
                     err) < 0 ||
        store_expect_change(store, "starting attempt", change->attempt, err) <
            0)
        return -1;
    return add_event(store, "attempt_running", change, err);
}

static const char *end_detail(struct store *store,
                              const struct attempt_end *end)
{
    struct buf *detail = detail_start(store);

    detail_text(detail, "cause", end->cause);
    if (end->exit_code >= 0)
        detail_int(detail, "exit_code", end->exit_code);
    if (end->signal != 0)
        detail_int(detail, "signal", end->signal);
    detail_int_unless_0(detail, "started_ms", end->started_ms);
    detail_int(detail, "cpu_ms", end->cpu_ms);
    detail_int(detail, "max_rss_bytes", end->max_rss_bytes);
    if (end->has_gpu_use && end->gpu_ms >= 0)
        detail_int(detail, "gpu_ms", end->gpu_ms);
    if (end->has_gpu_use && end->gpu_memory_bytes >= 0)
        detail_int(detail, "gpu_memory_bytes", end->gpu_memory_bytes);
    detail_text(detail, "text", end->text);
    if (end->rule >= 0)
        detail_int(detail, "rule", end->rule);
    detail_int_unless_0(detail, "resource_used", end->resource_used);
    detail_text(detail, "checkpoint", end->checkpoint);
    detail_text(detail, "node", end->node);
    detail_int_unless_0(detail, "displaced", end->is_displaced);
    detail_int_unless_0(detail, "outside", end->is_outside);
    detail_int_unless_0(detail, "shortage", end->is_shortage);
    return detail_end(detail);
}

int store_end_attempt(struct store *store, const struct attempt_end *end,
                      struct err *err)
{
    if (store_change(
            store, UPDATE_ATTEMPT_ENDED,
            VALUES(
                value_int(end->attempt), value_text(end->cause),
                int_unless(end->exit_code, -1), int_unless(end->signal, 0),
                int_unless(end->started_ms, 0), value_int(end->ended_ms),
                value_int(end->cpu_ms), value_int(end->max_rss_bytes),
                value_text(end->text), int_unless(end->rule, -1),
                int_unless(end->resource_used, 0), value_text(end->checkpoint),
                value_text(end->node), int_unless(end->is_displaced, 0),
                int_unless(end->is_outside, 0), int_unless(end->is_shortage, 0),
                int_unless(end->has_gpu_use ? end->gpu_ms : -1, -1),
                int_unless(end->has_gpu_use ? end->gpu_memory_bytes : -1, -1)),
            err) < 0 ||
        store_expect_change(store, "attempt in progress", end->attempt, err) <
            0)
        return -1;
    return event_add(store,
                     &(struct event){.run = end->run,
                                     .job = end->job,
                                     .attempt = end->attempt,
                                     .time_ms = end->ended_ms,
                                     .event = "attempt_ended",
                                     .detail = end_detail(store, end)},
                     err);
}

/* ---- metrics ---- */

static int metric_name_id(struct store *store, const char *name, int64_t *id,
                          struct err *err)
{
    sqlite3_stmt *statement = store_statement(store, SELECT_METRIC_NAME, err);
    int row;

    if (statement == NULL)
        return -1;
    store_bind(statement, VALUES(value_text(name)));
    row = store_step(store, statement, err);
    if (row > 0)
        *id = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    if (row != 0)
        return row < 0 ? -1 : 0;
    if (store_change(store, INSERT_METRIC_NAME, VALUES(value_text(name)), err) <
        0)
        return -1;
    *id = sqlite3_last_insert_rowid(store->db);
    return 0;
}

int store_add_metric(struct store *store, const struct metric_new *metric,
                     struct err *err)
{
    const double whole = floor(metric->step);
    int64_t name_id;

    if (metric_name_id(store, metric->name, &name_id, err) < 0)
        return -1;
    return store_change(store, REPLACE_METRIC,
                        VALUES(value_int(metric->job), value_int(name_id),
                               whole == metric->step ? value_int((int64_t)whole)
                                                     : value_real(metric->step),
                               value_real(metric->value),
                               value_int(metric->attempt),
                               value_int(metric->time_ms)),
                        err);
}

int store_thin_metric(struct store *store, int64_t job, const char *name,
                      struct err *err)
{
    int64_t name_id;

    if (metric_name_id(store, name, &name_id, err) < 0)
        return -1;
    return store_change(store, DELETE_HALF_OF_METRIC,
                        VALUES(value_int(job), value_int(name_id)), err);
}
