/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/value.h"
#include "store/event.h"
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
    struct buf values = BUF_INIT, outcomes = BUF_INIT;
    int result;

    detail_list(&values, observation->values, observation->value_count);
    detail_list(&outcomes, observation->outcomes, observation->outcome_count);
    result = store_change(
        store, INSERT_OBSERVATION,
        VALUES(value_int(observation->run), value_int(observation->told),
               value_int(observation->job), value_int(observation->resource),
               value_int(observation->attempt),
               int_unless(observation->rung, -1), value_text(buf_text(&values)),
               value_text(buf_text(&outcomes)), value_real(observation->last),
               value_real(observation->best), value_text(observation->decision),
               value_text(observation->reason),
               value_int(observation->time_ms)),
        err);
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

#define SELECT_OBSERVATIONS                                                    \
    "SELECT o.told, o.job_id, job.number, o.attempt_id, attempt.number,"       \
    " o.resource, ifnull(job.bracket, -1), ifnull(o.rung, -1), o.\"values\","  \
    " o.outcomes, o.last, o.best, o.decision, o.reason, o.promoted,"           \
    " o.promoted_to, o.time_ms"                                                \
    " FROM observation AS o JOIN job ON job.id = o.job_id"                     \
    " LEFT JOIN attempt ON attempt.id = o.attempt_id"

static void read_observation(sqlite3_stmt *statement,
                             struct observation_row *row)
{
    int column = 0;

    row->told = sqlite3_column_int64(statement, column++);
    row->job = sqlite3_column_int64(statement, column++);
    row->number = sqlite3_column_int64(statement, column++);
    row->attempt = sqlite3_column_int64(statement, column++);
    row->attempt_number = sqlite3_column_int64(statement, column++);
    row->resource = sqlite3_column_int64(statement, column++);
    row->bracket = sqlite3_column_int64(statement, column++);
    row->rung = sqlite3_column_int64(statement, column++);
    row->values = store_column_text(statement, column++);
    row->outcomes = store_column_text(statement, column++);
    row->last = store_column_real(statement, column++);
    row->best = store_column_real(statement, column++);
    row->decision = store_column_text(statement, column++);
    row->reason = store_column_text(statement, column++);
    row->promoted = sqlite3_column_int64(statement, column++);
    row->promoted_to = sqlite3_column_int64(statement, column++);
    row->time_ms = sqlite3_column_int64(statement, column++);
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
