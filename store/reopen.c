/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* What is kept of a job that is put back. */
struct superseding {
    int64_t run, number, told, attempts;
    struct buf state, values, outcomes;
};

static void superseding_clear(struct superseding *superseding)
{
    buf_clear(&superseding->state);
    buf_clear(&superseding->values);
    buf_clear(&superseding->outcomes);
}

static int read_job(struct store *store, int64_t job,
                    struct superseding *superseding, struct err *err)
{
    struct value id = value_int(job);
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT run_id, number, told, state, ended_ms,"
                    " (SELECT count(*) FROM attempt WHERE job_id = job.id)"
                    " FROM job WHERE id = ?1",
                    &id, 1, err);
    bool is_over = false;
    int row;

    if (statement == NULL)
        return -1;
    row = store_step(store, statement, err);
    if (row > 0) {
        is_over = sqlite3_column_type(statement, 4) != SQLITE_NULL;
        superseding->run = sqlite3_column_int64(statement, 0);
        superseding->number = sqlite3_column_int64(statement, 1);
        superseding->told = sqlite3_column_int64(statement, 2);
        buf_add_string(&superseding->state, store_column_text(statement, 3));
        superseding->attempts = sqlite3_column_int64(statement, 5);
    }
    sqlite3_finalize(statement);
    if (is_over)
        return 0;
    return row < 0 ? -1
                   : err_set(err, ERR_FAILED,
                             "store '%s': no finished job %" PRId64,
                             store->path, job);
}

static int read_list(struct store *store, const char *sql, int64_t job,
                     struct buf *out, struct err *err)
{
    struct value id = value_int(job);
    sqlite3_stmt *statement = store_query(store, sql, &id, 1, err);
    double *reals = NULL;
    size_t count = 0, capacity = 0;
    int row;

    if (statement == NULL)
        return -1;
    while ((row = store_step(store, statement, err)) > 0) {
        reals = mem_grow(reals, count, &capacity, sizeof(*reals));
        reals[count++] = store_column_real(statement, 0);
    }
    sqlite3_finalize(statement);
    detail_list(out, reals, count);
    free(reals);
    return row;
}

static int insert_superseded(struct store *store,
                             const struct superseding *superseding,
                             struct err *err)
{
    const struct value cells[SUPERSEDED_COLUMN_COUNT + 1] = {
        [SUPERSEDED_CELL_TOLD] = value_int(superseding->told),
        [SUPERSEDED_CELL_NUMBER] = value_int(superseding->number),
        [SUPERSEDED_CELL_STATE] = value_text(buf_text(&superseding->state)),
        [SUPERSEDED_CELL_VALUES] = value_text(buf_text(&superseding->values)),
        [SUPERSEDED_CELL_OUTCOMES] =
            value_text(buf_text(&superseding->outcomes)),
        [SUPERSEDED_CELL_ATTEMPTS] = value_int(superseding->attempts),
        [SUPERSEDED_COLUMN_COUNT] = value_int(superseding->run),
    };

    return store_change(store, INSERT_SUPERSEDED_RESULT, cells,
                        ARRAY_LEN(cells), err);
}

static int keep_result(struct store *store, int64_t job,
                       struct superseding *superseding, struct err *err)
{
    if (read_job(store, job, superseding, err) != 0)
        return -1;
    if (superseding->told == 0)
        return 0;
    if (read_list(store,
                  "SELECT value FROM job_value WHERE job_id = ?1 ORDER BY idx",
                  job, &superseding->values, err) != 0 ||
        read_list(
            store,
            "SELECT value FROM job_outcome WHERE job_id = ?1 ORDER BY idx", job,
            &superseding->outcomes, err) != 0)
        return -1;
    return insert_superseded(store, superseding, err);
}

int store_reopen_job(struct store *store, int64_t job, const char *state,
                     const char *event, int64_t time_ms, struct err *err)
{
    struct superseding superseding = {0};
    struct value id = value_int(job);
    struct buf *detail;
    int result = keep_result(store, job, &superseding, err);

    if (result == 0)
        result = store_change(store, DELETE_JOB_VALUES, &id, 1, err);
    if (result == 0)
        result = store_change(store, DELETE_JOB_OUTCOMES, &id, 1, err);
    if (result == 0)
        result =
            store_change(store, REOPEN_JOB, VALUES(id, value_text(state)), err);
    if (result == 0) {
        detail = detail_start(store);
        detail_text(detail, "state", state);
        detail_int_unless_0(detail, "superseded", superseding.told);
        result = event_add(store,
                           &(struct event){.run = superseding.run,
                                           .job = job,
                                           .time_ms = time_ms,
                                           .event = event,
                                           .detail = detail_end(detail)},
                           err);
    }
    superseding_clear(&superseding);
    return result;
}

int store_ask_cancel(struct store *store, const struct cancel_request *request,
                     struct err *err)
{
    struct buf *detail;

    if (store_change(store, ASK_CANCEL,
                     VALUES(value_int(request->job), value_int(request->asker)),
                     err) < 0)
        return -1;
    detail = detail_start(store);
    detail_int(detail, "cancel_asked", request->asker);
    return event_add(store,
                     &(struct event){.run = request->run,
                                     .job = request->job,
                                     .time_ms = request->time_ms,
                                     .event = "cancel_asked",
                                     .detail = detail_end(detail)},
                     err);
}

int store_end_dead_engine(struct store *store, int64_t run, struct err *err)
{
    struct value id = value_int(run);
    int64_t heard_ms;

    if (store_query_integer(
            store,
            "SELECT iif(engine_pid = 0, 0, (SELECT time_ms FROM event"
            " WHERE run_id = run.id AND " SQL_NOT_OF_PEOPLE(
                "event") " ORDER BY seq DESC LIMIT 1))"
                         " FROM run WHERE id = ?1",
            &id, 1, &heard_ms, err) != 0)
        return -1;
    return heard_ms == 0
               ? 0
               : store_set_run_engine(store, run, 0, "", heard_ms, err);
}

static void read_superseded(sqlite3_stmt *statement, struct superseded_row *row)
{
    COLUMN_READS(SUPERSEDED_COLUMNS)
}

int store_each_superseded(struct store *store, int64_t run,
                          int (*row)(void *user,
                                     const struct superseded_row *superseded),
                          void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT " COLUMN_NAMES(
                        SUPERSEDED_COLUMNS) " FROM superseded_result WHERE "
                                            "run_id = ?1 ORDER BY told",
                    &id, 1, err);
    struct superseded_row superseded;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_superseded(statement, &superseded);
        result = row(user, &superseded);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_sum_superseded(struct store *store, int64_t run, int64_t number,
                         struct superseded_sum *sum, struct err *err)
{
    const struct value key[] = {value_int(run), value_int(number)};
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT count(*), max(attempts),"
                    " max(iif(state = 'succeeded', attempts, 0)),"
                    " sum(state = 'succeeded') FROM superseded_result"
                    " WHERE run_id = ?1 AND number = ?2",
                    key, 2, err);
    int row;

    if (statement == NULL)
        return -1;
    row = store_step(store, statement, err);
    if (row > 0) {
        sum->count = sqlite3_column_int64(statement, 0);
        sum->attempts = sqlite3_column_int64(statement, 1);
        sum->attempts_succeeded = sqlite3_column_int64(statement, 2);
        sum->succeeded = sqlite3_column_int64(statement, 3);
    }
    sqlite3_finalize(statement);
    return row < 0 ? -1 : 0;
}
