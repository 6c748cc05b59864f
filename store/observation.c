/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* ---- writing ---- */

static void detail_real(struct buf *detail, const char *key, double real)
{
    if (!isnan(real))
        detail_reals(detail, key, &real, 1);
}

static const char *observed_detail(struct store *store,
                                   const struct observation_new *observation)
{
    struct buf *detail = detail_start(store);

    detail_int(detail, "told", observation->told);
    detail_int(detail, "resource", observation->resource);
    if (observation->rung >= 0)
        detail_int(detail, "rung", observation->rung);
    detail_reals(detail, "values", observation->values,
                 observation->value_count);
    detail_reals(detail, "outcomes", observation->outcomes,
                 observation->outcome_count);
    detail_real(detail, "last", observation->last);
    detail_real(detail, "best", observation->best);
    detail_text(detail, "decision", observation->decision);
    detail_text(detail, "reason", observation->reason);
    return detail_end(detail);
}

static int insert_observation(struct store *store,
                              const struct observation_new *observation,
                              struct err *err)
{
    struct value cells[OBSERVATION_COLUMN_COUNT + 1] = {
        [OBSERVATION_CELL_TOLD] = value_int(observation->told),
        [OBSERVATION_CELL_JOB_ID] = value_int(observation->job),
        [OBSERVATION_CELL_RESOURCE] = value_int(observation->resource),
        [OBSERVATION_CELL_ATTEMPT_ID] = value_int(observation->attempt),
        [OBSERVATION_CELL_RUNG] = int_unless(observation->rung, -1),
        [OBSERVATION_CELL_LAST] = value_real(observation->last),
        [OBSERVATION_CELL_BEST] = value_real(observation->best),
        [OBSERVATION_CELL_DECISION] = value_text(observation->decision),
        [OBSERVATION_CELL_REASON] = value_text(observation->reason),
        [OBSERVATION_CELL_TIME_MS] = value_int(observation->time_ms),
        [OBSERVATION_COLUMN_COUNT] = value_int(observation->run),
    };
    struct buf values = BUF_INIT, outcomes = BUF_INIT;
    int result;

    detail_list(&values, observation->values, observation->value_count);
    detail_list(&outcomes, observation->outcomes, observation->outcome_count);
    cells[OBSERVATION_CELL_VALUES] = value_text(buf_text(&values));
    cells[OBSERVATION_CELL_OUTCOMES] = value_text(buf_text(&outcomes));
    result =
        store_change(store, INSERT_OBSERVATION, cells, ARRAY_LEN(cells), err);
    buf_clear(&values);
    buf_clear(&outcomes);
    return result;
}

int store_add_observation(struct store *store,
                          const struct observation_new *observation,
                          struct err *err)
{
    if (insert_observation(store, observation, err) < 0)
        return -1;
    return event_add(
        store,
        &(struct event){.run = observation->run,
                        .job = observation->job,
                        .attempt = observation->attempt,
                        .time_ms = observation->time_ms,
                        .event = "observed",
                        .detail = observed_detail(store, observation)},
        err);
}

static const char *promoted_detail(struct store *store,
                                   const struct job_promotion *promotion)
{
    struct buf *detail = detail_start(store);

    detail_text(detail, "state", promotion->state);
    detail_int(detail, "told", promotion->told);
    detail_int(detail, "resource", promotion->resource);
    detail_int(detail, "rung", promotion->rung);
    detail_text(detail, "reason", promotion->reason);
    return detail_end(detail);
}

int store_promote_job(struct store *store,
                      const struct job_promotion *promotion, struct err *err)
{
    struct value run = value_int(promotion->run);
    struct value job = value_int(promotion->job);
    struct value resource = value_int(promotion->resource);

    if (store_change(store, UPDATE_OBSERVATION_PROMOTED,
                     VALUES(run, job, value_int(promotion->at_resource),
                            value_int(promotion->told), resource),
                     err) < 0)
        return -1;
    if (sqlite3_changes(store->db) != 1)
        return err_set(err, ERR_FAILED,
                       "store '%s': job %" PRId64 " does not wait at resource "
                       "%" PRId64,
                       store->path, promotion->job, promotion->at_resource);
    if (store_change(store, PROMOTE_JOB,
                     VALUES(job, run, value_text(promotion->state), resource),
                     err) < 0)
        return -1;
    return event_add(
        store,
        &(struct event){.run = promotion->run,
                        .job = promotion->job,
                        .time_ms = promotion->time_ms,
                        .event = promotion->event,
                        .detail = promoted_detail(store, promotion)},
        err);
}

/* ---- reading ---- */

int store_each_rung(struct store *store, int64_t run,
                    int (*row)(void *user, const struct rung_new *rung),
                    void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT bracket, rung, resource, trials FROM run_rung"
                    " WHERE run_id = ?1 ORDER BY bracket, rung",
                    &id, 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        const struct rung_new rung = {
            .bracket = sqlite3_column_int64(statement, 0),
            .rung = sqlite3_column_int64(statement, 1),
            .resource = sqlite3_column_int64(statement, 2),
            .trials = sqlite3_column_int64(statement, 3),
        };

        result = row(user, &rung);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

#define OBSERVATION_NAME(cell, column, kind, member) "o.\"" #column "\", "
#define SELECT_OBSERVATIONS                                                    \
    "SELECT " OBSERVATION_COLUMNS(                                             \
        OBSERVATION_NAME,                                                      \
        OBSERVATION_NAME) " job.number, ifnull(job.bracket, -1), "             \
                          "attempt.number"                                     \
                          " FROM observation AS o JOIN job ON job.id = "       \
                          "o.job_id"                                           \
                          " LEFT JOIN attempt ON attempt.id = o.attempt_id"

/* What SELECT_OBSERVATIONS adds to the columns, in its order. */
enum { AT_NUMBER = OBSERVATION_COLUMN_COUNT, AT_BRACKET, AT_ATTEMPT_NUMBER };

static void read_observation(sqlite3_stmt *statement,
                             struct observation_row *row)
{
    COLUMN_READS(OBSERVATION_COLUMNS)
    row->number = sqlite3_column_int64(statement, AT_NUMBER);
    row->bracket = sqlite3_column_int64(statement, AT_BRACKET);
    row->attempt_number = sqlite3_column_int64(statement, AT_ATTEMPT_NUMBER);
}

/* Destroys the query. */
static int each_observation(struct store *store, sqlite3_stmt *statement,
                            int (*row)(void *user,
                                       const struct observation_row *row),
                            void *user, struct err *err)
{
    struct observation_row observation;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_observation(statement, &observation);
        result = row(user, &observation);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_each_observation(struct store *store, int64_t run, int64_t job,
                           int (*row)(void *user,
                                      const struct observation_row *row),
                           void *user, struct err *err)
{
    const char *sql =
        job == 0 ? SELECT_OBSERVATIONS " WHERE o.run_id = ?1 ORDER BY o.told"
                 : SELECT_OBSERVATIONS " WHERE +o.run_id = ?1 AND o.job_id = ?2"
                                       " ORDER BY o.told"; /* by that index */
    struct value ids[] = {value_int(run), value_int(job)};

    return each_observation(store,
                            store_query(store, sql, ids, job == 0 ? 1 : 2, err),
                            row, user, err);
}

int store_each_observation_after(struct store *store, int64_t run,
                                 int64_t after,
                                 int (*row)(void *user,
                                            const struct observation_row *row),
                                 void *user, struct err *err)
{
    const struct value key[] = {value_int(run), value_int(after)};

    return each_observation(store,
                            store_query(store,
                                        SELECT_OBSERVATIONS
                                        " WHERE o.run_id = ?1 AND o.told > ?2"
                                        " ORDER BY o.told",
                                        key, 2, err),
                            row, user, err);
}

int store_sum_resource(struct store *store, int64_t run, int64_t *used,
                       struct err *err)
{
    struct value id = value_int(run);

    return store_query_integer(
        store,
        "SELECT ifnull(sum(resource_used), 0) FROM attempt"
        " WHERE job_id IN (SELECT id FROM job WHERE run_id = ?1)",
        &id, 1, used, err);
}
