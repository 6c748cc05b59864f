/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trials are read as a stream: one statement gives the jobs in the order asked
 * for, straight from an index, and two more, reset for each job, its
 * parameters and values. Nothing is sorted or held in memory, so that the
 * first of 100,000 rows is there at once.
 *
 * By value the order has five parts, each of one statement: ORDER_BEST in
 * read.h lists them. A failed trial is never better than another, whatever it
 * printed before it failed.
 */
#include "store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* clang-format off */
/* Nothing is asked of its way: it has none, for want of a schedule. */
#define IS_BARE "?5 OR job.first_resource IS NULL"

#define JOB_NAME(cell, column, kind, member) "job.\"" #column "\", "
#define SELECT_JOBS                                                            \
    "SELECT " JOB_COLUMNS(JOB_NAME, JOB_NAME)                                  \
    " iif(" IS_BARE ", 0, ifnull((SELECT max(resource) FROM observation"       \
    "   WHERE job_id = job.id), 0)),"                                          \
    " iif(" IS_BARE ", -1, ifnull((SELECT max(rung) FROM observation"          \
    "   WHERE job_id = job.id), -1)) FROM "

#define OF_QUERY                                                               \
    " AND (?2 IS NULL OR job.state = ?2) AND job.number BETWEEN ?3 AND ?4"     \
    " AND (?6 IS NULL OR (job.tags IS NOT NULL AND EXISTS"                     \
    "   (SELECT 1 FROM json_each(job.tags) WHERE value = ?6)))"                \
    " AND (?7 IS NULL OR job.step = ?7)"

#define BY_VALUE                                                               \
    SELECT_JOBS "job_value AS v JOIN job ON job.id = v.job_id"                 \
    " WHERE v.run_id = ?1 AND v.idx = 0 AND " IS_FINITE("v") OF_QUERY

#define IS_DONE "job.state = 'succeeded' AND " HAS_FINITE_VALUES
#define IS_PARTLY_DONE                                                         \
    "job.state NOT IN ('succeeded', 'failed') AND " HAS_FINITE_VALUES

static const char by_number[] =
    SELECT_JOBS "job WHERE job.run_id = ?1" OF_QUERY " ORDER BY job.number";
/* By the goal: to be minimised, to be maximised. */
static const char *const feasible[] = {
    BY_VALUE " AND job.violation = 0 AND " IS_DONE
             " ORDER BY v.value, v.job_id",
    BY_VALUE " AND job.violation = 0 AND " IS_DONE
             " ORDER BY v.value DESC, v.job_id",
};
static const char infeasible[] =
    BY_VALUE " AND job.violation > 0 AND " IS_DONE
             " ORDER BY job.violation, v.job_id";
static const char *const partly_done[] = {
    BY_VALUE " AND " IS_PARTLY_DONE " ORDER BY v.value, v.job_id",
    BY_VALUE " AND " IS_PARTLY_DONE " ORDER BY v.value DESC, v.job_id",
};
static const char without_value[] =
    SELECT_JOBS "job WHERE job.run_id = ?1" OF_QUERY
    " AND job.state <> 'failed' AND NOT (" HAS_FINITE_VALUES
    "   AND EXISTS (SELECT 1 FROM job_value WHERE job_id = job.id))"
    " ORDER BY job.number";
static const char failed[] =
    SELECT_JOBS "job WHERE job.run_id = ?1" OF_QUERY
    " AND job.state = 'failed' ORDER BY job.number";

static const char select_attempts[] =
    "SELECT " ATTEMPT_TOTALS_CELLS " FROM attempt"
    " WHERE job_id = ?1 ORDER BY number";
static const char select_params[] =
    "SELECT idx, value, is_bool FROM param_value WHERE job_id = ?1";
static const char select_values[] =
    "SELECT idx, value FROM job_value WHERE job_id = ?1 ORDER BY idx";
static const char select_outcomes[] =
    "SELECT idx, value FROM job_outcome WHERE job_id = ?1 ORDER BY idx";
/* clang-format on */

struct reading {
    struct store *store;
    const struct trial_query *query;
    int (*row)(void *user, const struct trial_row *trial);
    void *user;
    sqlite3_stmt *params, *values, *outcomes, *attempts;
    struct value *param; /* [param_count] */
    double *value;       /* [objective_count] */
    double *outcome;     /* [outcome_count] */
    size_t param_count, objective_count, outcome_count;
    struct buf text; /* of this trial's params */
    int64_t rows;
    struct err *err;
};

struct reals {
    double *items;
    size_t *count, room;
};

static int count_rows(struct reading *reading, const char *sql, size_t *count)
{
    struct value run = value_int(reading->query->run);
    int64_t rows;

    if (store_query_integer(reading->store, sql, &run, 1, &rows, reading->err) <
        0)
        return -1;
    *count = (size_t)rows;
    return 0;
}

/* A text is an offset in reading->text until all are there. */
static struct value read_value(struct reading *reading, sqlite3_stmt *statement)
{
    switch (sqlite3_column_type(statement, 1)) {
    case SQLITE_INTEGER:
        if (sqlite3_column_int(statement, 2))
            return value_bool(sqlite3_column_int(statement, 1) != 0);
        return value_int(sqlite3_column_int64(statement, 1));
    case SQLITE_FLOAT:
        return value_real(sqlite3_column_double(statement, 1));
    default:
        break;
    }
    buf_add_string(&reading->text, store_column_text(statement, 1));
    buf_add_char(&reading->text, '\0');
    return (struct value){
        .type = VALUE_TEXT,
        .integer = (int64_t)reading->text.length -
                   sqlite3_column_bytes(statement, 1) - 1,
    };
}

static int read_params(struct reading *reading, int64_t job)
{
    sqlite3_stmt *statement = reading->params;
    int row;

    buf_truncate(&reading->text, 0);
    for (size_t i = 0; i < reading->param_count; i++)
        reading->param[i] = value_null();
    sqlite3_bind_int64(statement, 1, job);
    while ((row = store_step(reading->store, statement, reading->err)) > 0) {
        size_t index = (size_t)sqlite3_column_int64(statement, 0);

        if (index < reading->param_count)
            reading->param[index] = read_value(reading, statement);
    }
    sqlite3_reset(statement);
    for (size_t i = 0; i < reading->param_count; i++) {
        struct value *value = &reading->param[i];

        if (value->type == VALUE_TEXT)
            value->text = reading->text.data + value->integer;
    }
    return row;
}

/* The reals of a job into to[room]. */
static int read_reals(struct reading *reading, sqlite3_stmt *statement,
                      int64_t job, struct reals to)
{
    int row;

    *to.count = 0;
    if (to.room == 0)
        return 0;
    sqlite3_bind_int64(statement, 1, job);
    while ((row = store_step(reading->store, statement, reading->err)) > 0) {
        if (*to.count < to.room)
            to.items[(*to.count)++] = store_column_real(statement, 1);
    }
    sqlite3_reset(statement);
    return row;
}

static int read_attempts(struct reading *reading, struct trial_row *trial)
{
    sqlite3_stmt *statement = reading->attempts;
    int row;

    attempt_totals_init(&trial->attempts);
    if (reading->query->results_only)
        return 0;
    sqlite3_bind_int64(statement, 1, trial->job);
    while ((row = store_step(reading->store, statement, reading->err)) > 0)
        attempt_totals_add(&trial->attempts, statement, 0);
    sqlite3_reset(statement);
    if (trial->attempts.reached > trial->reached)
        trial->reached = trial->attempts.reached;
    return row;
}

/* What SELECT_JOBS adds to the columns, in its order. */
enum { AT_REACHED = JOB_COLUMN_COUNT, AT_REACHED_RUNG };

static void read_job(sqlite3_stmt *statement, struct trial_row *row)
{
    COLUMN_READS(JOB_COLUMNS)
    row->reached = sqlite3_column_int64(statement, AT_REACHED);
    row->reached_rung = sqlite3_column_int64(statement, AT_REACHED_RUNG);
}

static int hand_out(struct reading *reading, sqlite3_stmt *jobs)
{
    struct trial_row trial = {.values = reading->value,
                              .outcomes = reading->outcome,
                              .params = reading->param,
                              .param_count = reading->param_count};

    read_job(jobs, &trial);
    if (read_attempts(reading, &trial) < 0 ||
        (reading->param_count > 0 && read_params(reading, trial.job) < 0) ||
        read_reals(reading, reading->values, trial.job,
                   (struct reals){reading->value, &trial.value_count,
                                  reading->objective_count}) < 0 ||
        read_reals(reading, reading->outcomes, trial.job,
                   (struct reals){reading->outcome, &trial.outcome_count,
                                  reading->outcome_count}) < 0)
        return -1;
    reading->rows++;
    return reading->row(reading->user, &trial);
}

static bool is_enough(const struct reading *reading)
{
    return reading->query->limit > 0 && reading->rows >= reading->query->limit;
}

static int read_jobs(struct reading *reading, const char *sql)
{
    const struct trial_query *query = reading->query;
    struct value bounds[] = {
        value_int(query->run),
        value_text(query->state),
        value_int(query->number),
        value_int(query->number == 0 ? INT64_MAX : query->number),
        value_bool(query->results_only),
        value_text(query->tag),
        int_unless(query->of_step - 1, -1),
    };
    sqlite3_stmt *jobs = store_query(reading->store, sql, bounds,
                                     ARRAY_LEN(bounds), reading->err);
    int result = 0;

    if (jobs == NULL)
        return -1;
    while (!is_enough(reading)) {
        result = store_step(reading->store, jobs, reading->err);
        if (result > 0)
            result = hand_out(reading, jobs);
        else
            break;
        if (result != 0)
            break;
    }
    sqlite3_finalize(jobs);
    return result;
}

static int is_maximized(struct reading *reading, bool *maximized)
{
    size_t count;

    if (count_rows(reading,
                   "SELECT count(*) FROM run_objective WHERE run_id = ?1"
                   " AND idx = 0 AND goal = 'maximize'",
                   &count) < 0)
        return -1;
    *maximized = count == 1;
    return 0;
}

static int read_in_order(struct reading *reading)
{
    bool maximized;
    int result;

    if (reading->query->order == ORDER_NUMBER)
        return read_jobs(reading, by_number);
    if (is_maximized(reading, &maximized) < 0)
        return -1;
    result = read_jobs(reading, feasible[maximized]);
    if (result == 0 && reading->outcome_count > 0)
        result = read_jobs(reading, infeasible);
    if (result == 0)
        result = read_jobs(reading, partly_done[maximized]);
    if (result == 0)
        result = read_jobs(reading, without_value);
    return result == 0 ? read_jobs(reading, failed) : result;
}

static int prepare(struct reading *reading)
{
    struct store *store = reading->store;

    if ((!reading->query->results_only &&
         count_rows(reading, "SELECT count(*) FROM run_param WHERE run_id = ?1",
                    &reading->param_count) < 0) ||
        count_rows(reading,
                   "SELECT count(*) FROM run_objective WHERE run_id = ?1",
                   &reading->objective_count) < 0 ||
        count_rows(reading,
                   "SELECT count(*) FROM run_outcome WHERE run_id = ?1",
                   &reading->outcome_count) < 0)
        return -1;
    reading->param = mem_array(reading->param_count, sizeof(*reading->param));
    reading->value =
        mem_array(reading->objective_count, sizeof(*reading->value));
    reading->outcome =
        mem_array(reading->outcome_count, sizeof(*reading->outcome));
    reading->attempts =
        store_query(store, select_attempts, NULL, 0, reading->err);
    if (reading->attempts == NULL)
        return -1;
    reading->params = store_query(store, select_params, NULL, 0, reading->err);
    if (reading->params == NULL)
        return -1;
    reading->values = store_query(store, select_values, NULL, 0, reading->err);
    if (reading->values == NULL)
        return -1;
    reading->outcomes =
        store_query(store, select_outcomes, NULL, 0, reading->err);
    return reading->outcomes == NULL ? -1 : 0;
}

const char *trial_state_shown(const struct trial_row *trial)
{
    bool is_finite = true;

    for (size_t i = 0; i < trial->value_count; i++)
        is_finite &= isfinite(trial->values[i]);
    return is_finite || trial->violation > 0.0 ||
                   strcmp(trial->state, "succeeded") != 0
               ? trial->state
               : STATE_NONFINITE;
}

int store_each_trial(struct store *store, const struct trial_query *query,
                     int (*row)(void *user, const struct trial_row *trial),
                     void *user, struct err *err)
{
    struct reading reading = {
        .store = store, .query = query, .row = row, .user = user, .err = err};
    bool began;
    int result;

    if (store_read_begin(store, &began, err) < 0)
        return -1;
    result = prepare(&reading);
    if (result == 0)
        result = read_in_order(&reading);
    sqlite3_finalize(reading.attempts);
    sqlite3_finalize(reading.params);
    sqlite3_finalize(reading.values);
    sqlite3_finalize(reading.outcomes);
    store_read_end(store, began);
    free(reading.param);
    free(reading.value);
    free(reading.outcome);
    buf_clear(&reading.text);
    return result;
}
