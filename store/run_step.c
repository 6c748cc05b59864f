/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* ---- writing ---- */

static const char *step_detail(struct store *store,
                               const struct step_change *change, bool begins)
{
    struct buf *detail = detail_start(store);

    detail_int(detail, "step", change->step);
    detail_text(detail, "state", change->state);
    detail_text(detail, "reason", change->reason);
    if (begins) {
        detail_int(detail, "copies", change->copies);
        detail_text(detail, "matrix", change->matrix);
        detail_int(detail, "first_job", change->first_job);
    }
    return detail_end(detail);
}

int store_change_step(struct store *store, const struct step_change *change,
                      struct err *err)
{
    bool begins = strcmp(change->event, "step_began") == 0;

    if (store_change(
            store, UPDATE_RUN_STEP,
            VALUES(value_int(change->run), value_int(change->step),
                   value_text(change->state), value_text(change->reason),
                   begins ? value_int(change->copies) : value_null(),
                   value_text(begins ? change->matrix : NULL),
                   value_int(change->time_ms),
                   begins ? value_int(change->first_job) : value_null()),
            err) < 0)
        return -1;
    if (sqlite3_changes(store->db) != 1)
        return err_set(err, ERR_FAILED,
                       "store '%s': run %" PRId64 " has no step %" PRId64,
                       store->path, change->run, change->step);
    return event_add(store,
                     &(struct event){
                         .run = change->run,
                         .time_ms = change->time_ms,
                         .event = change->event,
                         .detail = step_detail(store, change, begins),
                     },
                     err);
}

/* ---- reading ---- */

#define SELECT_STEPS                                                           \
    "SELECT " COLUMN_NAMES(                                                    \
        STEP_COLUMNS) ", sum.jobs, sum.pending, sum.running, sum.succeeded, "  \
                      "sum.failed,"                                            \
                      " sum.skipped, sum.cached"                               \
                      " FROM run_step LEFT JOIN sum ON sum.step = idx"         \
                      " WHERE run_id = ?1 ORDER BY idx"

/* What SELECT_STEPS adds to the columns, in its order. */
enum {
    AT_JOBS = STEP_COLUMN_COUNT,
    AT_PENDING,
    AT_RUNNING,
    AT_SUCCEEDED,
    AT_FAILED,
    AT_SKIPPED,
    AT_CACHED
};

static void read_step(sqlite3_stmt *statement, struct step_row *row)
{
    COLUMN_READS(STEP_COLUMNS)
    row->jobs = sqlite3_column_int64(statement, AT_JOBS);
    row->pending = sqlite3_column_int64(statement, AT_PENDING);
    row->running = sqlite3_column_int64(statement, AT_RUNNING);
    row->succeeded = sqlite3_column_int64(statement, AT_SUCCEEDED);
    row->failed = sqlite3_column_int64(statement, AT_FAILED);
    row->skipped = sqlite3_column_int64(statement, AT_SKIPPED);
    row->cached = sqlite3_column_int64(statement, AT_CACHED);
}

int store_each_step(struct store *store, int64_t run,
                    int (*row)(void *user, const struct step_row *step),
                    void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "WITH sum AS MATERIALIZED (SELECT job.step, count(*) AS jobs,"
        "  sum(job.state = 'waiting' OR job.state = 'ready') AS pending,"
        "  sum(job.state = 'running') AS running,"
        "  sum(job.state = 'succeeded') AS succeeded,"
        "  sum(job.state = 'failed') AS failed, sum(job.state = 'skipped') AS "
        "skipped,"
        "  sum(job.cached_from IS NOT NULL AND job.cache_key IS NOT NULL)"
        "  AS cached"
        "  FROM job JOIN run_step ON run_step.run_id = ?1"
        "  AND run_step.idx = job.step AND job.number >= run_step.first_job"
        "  WHERE job.run_id = ?1 GROUP BY job.step)" SELECT_STEPS,
        &id, 1, err);
    struct step_row step;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_step(statement, &step);
        result = row(user, &step);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

/* Finalizes the statement. */
static int each_cached(struct store *store, sqlite3_stmt *statement,
                       int (*row)(void *user, const struct cached_row *cached),
                       void *user, struct err *err)
{
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        const struct cached_row cached = {
            .job = sqlite3_column_int64(statement, 0),
            .number = sqlite3_column_int64(statement, 1),
            .run = store_column_text(statement, 2),
            .outputs = store_column_text(statement, 3),
            .ended_ms = sqlite3_column_int64(statement, 4),
            .temps_removed_ms = sqlite3_column_int64(statement, 5),
        };

        result = row(user, &cached);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

#define SELECT_CACHED                                                          \
    "SELECT job.id, job.number, run.name, job.outputs, job.ended_ms,"          \
    " job.temps_removed_ms"                                                    \
    " FROM job JOIN run ON run.id = job.run_id"

int store_each_cached(struct store *store, const char *key, int64_t since_ms,
                      int (*row)(void *user, const struct cached_row *cached),
                      void *user, struct err *err)
{
    const struct value bounds[] = {value_text(key), value_int(since_ms)};

    return each_cached(
        store,
        store_query(store,
                    SELECT_CACHED
                    " WHERE job.cache_key = ?1 AND job.state = 'succeeded'"
                    " AND job.cached_from IS NULL AND job.ended_ms >= ?2"
                    " ORDER BY job.ended_ms DESC, job.id DESC",
                    bounds, 2, err),
        row, user, err);
}

int store_last_cached(struct store *store, const struct cached_step *of,
                      int (*row)(void *user, const struct cached_row *cached),
                      void *user, struct err *err)
{
    const struct value keys[] = {value_text(of->spec_path),
                                 value_text(of->step), value_int(of->copy)};

    return each_cached(
        store,
        store_query(store,
                    SELECT_CACHED
                    " JOIN run_step ON run_step.run_id = job.run_id"
                    "  AND run_step.idx = job.step"
                    " WHERE run.spec_path = ?1 AND run_step.name = ?2"
                    " AND job.copy = ?3 AND job.state = 'succeeded'"
                    " AND job.cache_key IS NOT NULL"
                    " AND job.cached_from IS NULL"
                    " ORDER BY job.id DESC LIMIT 1",
                    keys, 3, err),
        row, user, err);
}
