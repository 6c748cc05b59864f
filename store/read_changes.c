/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changed since an event, for programs that show a run while it is
 * written. A reader remembers the last `seq` it has seen and asks for the jobs
 * that have a newer event. That is complete because each change of a job adds
 * an event.
 *
 * Cells (settings, values, attempts) are read by ranges of job ids instead of
 * one job at a time. A page of a large run needs a hundred thousand of them.
 */
#include "store/changes.h"

#include <inttypes.h>
#include <stdbool.h>

#include "store/rows.h"
#include "store/store_impl.h"

int store_data_version(struct store *store, int64_t *version, struct err *err)
{
    return store_query_integer(store, "PRAGMA data_version", NULL, 0, version,
                               err);
}

int store_last_event(struct store *store, int64_t run, int64_t *seq,
                     struct err *err)
{
    struct value id = value_int(run);

    if (store_query_integer(store,
                            "SELECT max(seq) FROM event WHERE run_id = ?1", &id,
                            1, seq, err) < 0)
        return -1;
    return *seq > 0 ? 0 : err_set(err, ERR_NOT_FOUND, "no run %" PRId64, run);
}

int store_each_changed_run(struct store *store, int64_t since,
                           int (*row)(void *user, int64_t run, int64_t seq),
                           void *user, struct err *err)
{
    struct value after = value_int(since);
    sqlite3_stmt *statement = store_query(
        store,
        since == 0
            ? "SELECT id, (SELECT max(seq) FROM event WHERE run_id = run.id)"
              " FROM run ORDER BY id"
            : "SELECT run_id, max(seq) FROM event WHERE seq > ?1"
              " GROUP BY +run_id",
        &after, since == 0 ? 0 : 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        result = row(user, sqlite3_column_int64(statement, 0),
                     sqlite3_column_int64(statement, 1));
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_read_mark(struct store *store, struct store_mark *mark,
                    struct err *err)
{
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT (SELECT count(*) FROM run), (SELECT max(id) FROM run),"
        " (SELECT max(seq) FROM event)",
        NULL, 0, err);
    int row = statement == NULL ? -1 : store_step(store, statement, err);

    if (row > 0) {
        mark->runs = sqlite3_column_int64(statement, 0);
        mark->last_run = sqlite3_column_int64(statement, 1);
        mark->last_event = sqlite3_column_int64(statement, 2);
    }
    sqlite3_finalize(statement);
    return row < 0 ? -1 : 0;
}

int store_count_jobs(struct store *store, int64_t run, int64_t *count,
                     struct err *err)
{
    struct value id = value_int(run);

    return store_query_integer(store,
                               "SELECT count(*) FROM job WHERE run_id = ?1",
                               &id, 1, count, err);
}

/* ---- jobs ---- */

#define SELECT_JOBS "SELECT " COLUMN_NAMES(BRIEF_COLUMNS) " FROM job WHERE "

enum job_brief { BRIEF_COLUMNS(COLUMN_CELL, COLUMN_CELL) };

static void read_job(sqlite3_stmt *statement, struct job_row *row)
{
    COLUMN_READS(BRIEF_COLUMNS)
}

int store_each_job(struct store *store, int64_t run, int64_t since,
                   int (*row)(void *user, const struct job_row *job),
                   void *user, struct err *err)
{
    const struct value key[] = {value_int(run), value_int(since)};
    sqlite3_stmt *statement =
        store_query_kept(store,
                         since == 0 ? SELECT_JOBS "run_id = ?1 ORDER BY number"
                                    : SELECT_JOBS
                             "id IN (SELECT job_id FROM event WHERE run_id = ?1"
                             " AND seq > ?2) ORDER BY number",
                         key, since == 0 ? 1 : 2, err);
    struct job_row job;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_job(statement, &job);
        result = row(user, &job);
        if (result != 0)
            break;
    }
    store_query_end(store, statement);
    return result;
}

/* ---- cells ---- */

#define OF_JOBS " WHERE job_id BETWEEN ?1 AND ?2"

static const char *const select_cells[CELL_KIND_COUNT] = {
    [CELL_PARAM] = "SELECT job_id, idx, value, is_bool FROM param_value" OF_JOBS
                   " ORDER BY job_id",
    [CELL_VALUE] = "SELECT job_id, idx, value, 0 FROM job_value" OF_JOBS
                   " ORDER BY job_id",
    [CELL_OUTCOME] = "SELECT job_id, idx, value, 0 FROM job_outcome" OF_JOBS
                     " ORDER BY job_id",
    [CELL_OBSERVATION] =
        "SELECT job_id, ifnull(rung, -1), resource, 0 FROM observation" OF_JOBS
        " ORDER BY job_id",
};

static struct value read_value(sqlite3_stmt *statement)
{
    switch (sqlite3_column_type(statement, 2)) {
    case SQLITE_INTEGER:
        if (sqlite3_column_int(statement, 3))
            return value_bool(sqlite3_column_int(statement, 2) != 0);
        return value_int(sqlite3_column_int64(statement, 2));
    case SQLITE_FLOAT:
        return value_real(sqlite3_column_double(statement, 2));
    case SQLITE_NULL:
        return value_null();
    default:
        return value_text(store_column_text(statement, 2));
    }
}

struct cell_reader {
    struct store *store;
    sqlite3_stmt *statement;
    int (*cell)(void *user, const struct cell_row *cell);
    void *user;
    struct err *err;
};

/* How many ids from there on follow on each other. */
static size_t span_length(const struct job_ids *jobs, size_t from)
{
    size_t end = from + 1;

    while (end < jobs->count && jobs->ids[end] == jobs->ids[end - 1] + 1)
        end++;
    return end - from;
}

/* Reads the rows of the jobs from that place on; 0, or what ends it. */
typedef int span_fn(void *reader, const struct job_ids *jobs, size_t from);

/* Calls read() for each span, whose ends are bound to ?1 and ?2. Takes the
 * statement; -1 where it is NULL. */
static int each_span(sqlite3_stmt *statement, const struct job_ids *jobs,
                     span_fn *read, void *reader)
{
    int result = 0;
    size_t length;

    if (statement == NULL)
        return -1;
    for (size_t from = 0; from < jobs->count && result == 0; from += length) {
        length = span_length(jobs, from);
        sqlite3_bind_int64(statement, 1, jobs->ids[from]);
        sqlite3_bind_int64(statement, 2, jobs->ids[from + length - 1]);
        result = read(reader, jobs, from);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return result;
}

static int read_cells(void *user, const struct job_ids *jobs, size_t from)
{
    const struct cell_reader *reader = user;
    sqlite3_stmt *statement = reader->statement;
    struct cell_row cell;
    int result;

    while ((result = store_step(reader->store, statement, reader->err)) > 0) {
        cell.place = from + (size_t)(sqlite3_column_int64(statement, 0) -
                                     jobs->ids[from]);
        cell.index = sqlite3_column_int64(statement, 1);
        cell.value = read_value(statement);
        result = reader->cell(reader->user, &cell);
        if (result != 0)
            break;
    }
    return result;
}

int store_each_cell(struct store *store, enum cell_kind kind,
                    const struct job_ids *jobs,
                    int (*cell)(void *user, const struct cell_row *cell),
                    void *user, struct err *err)
{
    struct cell_reader reader = {
        store, store_query(store, select_cells[kind], NULL, 0, err), cell, user,
        err};

    return each_span(reader.statement, jobs, read_cells, &reader);
}

/* ---- attempts ---- */

struct totals_reader {
    struct store *store;
    sqlite3_stmt *statement;
    int (*row)(void *user, size_t place, const struct attempt_totals *totals);
    void *user;
    struct attempt_totals totals;
    int64_t job; /* whose they are; 0: none yet */
    struct err *err;
};

static int hand_out_totals(struct totals_reader *reader, size_t place)
{
    return reader->job == 0 ? 0
                            : reader->row(reader->user, place, &reader->totals);
}

static int read_totals(void *user, const struct job_ids *jobs, size_t from)
{
    struct totals_reader *reader = user;
    sqlite3_stmt *statement = reader->statement;
    int64_t first = jobs->ids[from];
    int result;

    reader->job = 0;
    while ((result = store_step(reader->store, statement, reader->err)) > 0) {
        int64_t job = sqlite3_column_int64(statement, 0);

        if (job != reader->job) {
            result =
                hand_out_totals(reader, from + (size_t)(reader->job - first));
            if (result != 0)
                break;
            attempt_totals_init(&reader->totals);
            reader->job = job;
        }
        attempt_totals_add(&reader->totals, statement, 1);
    }
    return result != 0
               ? result
               : hand_out_totals(reader, from + (size_t)(reader->job - first));
}

int store_each_attempt_totals(struct store *store, const struct job_ids *jobs,
                              int (*row)(void *user, size_t place,
                                         const struct attempt_totals *totals),
                              void *user, struct err *err)
{
    struct totals_reader reader = {
        .store = store,
        .statement =
            store_query(store,
                        "SELECT job_id, " ATTEMPT_TOTALS_CELLS
                        " FROM attempt" OF_JOBS " ORDER BY job_id, number",
                        NULL, 0, err),
        .row = row,
        .user = user,
        .err = err};

    return each_span(reader.statement, jobs, read_totals, &reader);
}
