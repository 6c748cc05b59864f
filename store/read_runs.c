/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"
#include "store/rows.h"
#include "store/store_impl.h"

/*
 * Counts come from the index job_state and the best from job_value_order, so
 * that neither has to be kept up to date elsewhere. The best is the first
 * value in the goal's direction of a trial that succeeded, is feasible, and has
 * finite values of all objectives. Trials that ended well without these are
 * counted apart, from the same index: they are at its two ends.
 */
/* clang-format off */
#define BEST_JOB                                                               \
    "SELECT v.job_id FROM job_value AS v JOIN job ON job.id = v.job_id"        \
    " WHERE v.run_id = run.id AND v.idx = 0 AND " IS_FINITE("v")               \
    " AND job.state = 'succeeded' AND job.violation = 0"                       \
    " AND " HAS_FINITE_VALUES

/* Of the run's jobs, by id. */
#define WITH_VALUE(which)                                                      \
    "SELECT v.job_id FROM run_objective AS r CROSS JOIN job_value AS v"        \
    "  ON v.run_id = r.run_id AND v.idx = r.idx AND v.value " which            \
    " WHERE r.run_id = run.id"
#define NONFINITE                                                              \
    " (SELECT count(*) FROM job WHERE state = 'succeeded' AND violation = 0"   \
    "  AND id IN (" WITH_VALUE("IS NULL") " UNION " WITH_VALUE(">= 9e999")     \
    "  UNION " WITH_VALUE("<= -9e999") "))"

/* ?2: they are not to be counted. */
#define COUNTED(which)                                                         \
    " iif(?2, 0,"                                                              \
    "  (SELECT count(*) FROM job WHERE run_id = run.id" which "))"

#define RUN_NAME(cell, column, kind, member) "run.\"" #column "\", "
#define SELECT_RUNS                                                            \
    "SELECT " RUN_COLUMNS(RUN_NAME, RUN_NAME) " o.metric, o.goal,"             \
    " (SELECT count(*) FROM run_objective WHERE run_id = run.id),"             \
    COUNTED("") ","                                                            \
    COUNTED(" AND state = 'succeeded'") ","                                    \
    COUNTED(" AND state = 'failed'") ","                                       \
    COUNTED(" AND state = 'running'") ","                                      \
    COUNTED(" AND state IN ('waiting', 'ready')") ","                          \
    COUNTED(" AND state = 'paused'") ","                                       \
    COUNTED(" AND state = 'stopped'") ","                                      \
    COUNTED(" AND state = 'cancelled'") ","                                    \
    COUNTED(" AND cached_from IS NOT NULL AND cache_key IS NOT NULL") ","      \
    " (SELECT first_resource IS NOT NULL FROM job WHERE run_id = run.id"       \
    "   ORDER BY number LIMIT 1),"                                             \
    " (SELECT count(*) FROM run_outcome WHERE run_id = run.id),"               \
    " iif(EXISTS (SELECT 1 FROM run_outcome WHERE run_id = run.id),"           \
    COUNTED(" AND state = 'succeeded' AND violation > 0") ", 0),"              \
    NONFINITE ","                                                              \
    " best.number, best_value.value,"                                          \
    " (SELECT count(*) FROM run_step WHERE run_id = run.id),"                  \
    " (SELECT count(*) FROM attempt AS a"                                      \
    "   CROSS JOIN job ON job.id = a.job_id"                                   \
    "   WHERE a.state <> 'ended' AND a.state = 'starting'"                     \
    "   AND a.queued_ms IS NOT NULL AND job.run_id = run.id)"                  \
    " FROM run"                                                                \
    " LEFT JOIN run_objective AS o ON o.run_id = run.id AND o.idx = 0"         \
    " LEFT JOIN job AS best ON best.id = iif(o.goal = 'maximize',"             \
    "   (" BEST_JOB " ORDER BY v.value DESC, v.job_id LIMIT 1),"               \
    "   (" BEST_JOB " ORDER BY v.value, v.job_id LIMIT 1))"                    \
    " LEFT JOIN job_value AS best_value"                                       \
    "   ON best_value.job_id = best.id AND best_value.idx = 0"
/* clang-format on */

/* What SELECT_RUNS adds to the columns, in its order. */
enum {
    AT_METRIC = RUN_COLUMN_COUNT,
    AT_GOAL,
    AT_OBJECTIVES,
    AT_TRIALS,
    AT_SUCCEEDED,
    AT_FAILED,
    AT_RUNNING,
    AT_PENDING,
    AT_PAUSED,
    AT_STOPPED,
    AT_CANCELLED,
    AT_CACHED,
    AT_IS_SCHEDULED,
    AT_OUTCOMES,
    AT_INFEASIBLE,
    AT_NONFINITE,
    AT_BEST_TRIAL,
    AT_BEST,
    AT_STEPS,
    AT_QUEUED
};

static void read_run(sqlite3_stmt *statement, struct run_row *row)
{
    COLUMN_READS(RUN_COLUMNS)
    row->metric = store_column_text(statement, AT_METRIC);
    row->goal = store_column_text(statement, AT_GOAL);
    row->objective_count = sqlite3_column_int64(statement, AT_OBJECTIVES);
    row->trials = sqlite3_column_int64(statement, AT_TRIALS);
    row->nonfinite = sqlite3_column_int64(statement, AT_NONFINITE);
    row->succeeded = sqlite3_column_int64(statement, AT_SUCCEEDED);
    if (row->succeeded > 0) /* it was counted */
        row->succeeded -= row->nonfinite;
    row->failed = sqlite3_column_int64(statement, AT_FAILED);
    row->running = sqlite3_column_int64(statement, AT_RUNNING);
    row->pending = sqlite3_column_int64(statement, AT_PENDING);
    row->paused = sqlite3_column_int64(statement, AT_PAUSED);
    row->stopped = sqlite3_column_int64(statement, AT_STOPPED);
    row->cancelled = sqlite3_column_int64(statement, AT_CANCELLED);
    row->cached = sqlite3_column_int64(statement, AT_CACHED);
    row->other = row->trials - row->succeeded - row->nonfinite - row->failed -
                 row->running - row->pending - row->paused;
    row->is_scheduled = sqlite3_column_int(statement, AT_IS_SCHEDULED);
    row->outcome_count = sqlite3_column_int64(statement, AT_OUTCOMES);
    row->infeasible = sqlite3_column_int64(statement, AT_INFEASIBLE);
    row->best_trial = sqlite3_column_int64(statement, AT_BEST_TRIAL);
    row->best = store_column_real(statement, AT_BEST);
    row->steps = sqlite3_column_int64(statement, AT_STEPS);
    row->queued = sqlite3_column_int64(statement, AT_QUEUED);
}

/* Of settings with several trials each, those with most of them come first,
 * then the mean decides. */
static int read_best_setting(struct store *store, struct run_row *run,
                             struct err *err)
{
    bool is_maximized = strcmp(run->goal, "maximize") == 0;
    const struct value key[] = {value_int(run->id), value_int(run->repeats),
                                value_int(is_maximized ? -1 : 1)};
    sqlite3_stmt *statement = store_query_kept(
        store,
        "SELECT min(job.number), avg(v.value)"
        " FROM job_value AS v JOIN job ON job.id = v.job_id"
        " WHERE v.run_id = ?1 AND v.idx = 0 AND job.state = 'succeeded'"
        " AND job.violation = 0 AND " HAS_FINITE_VALUES
        " GROUP BY (job.number - 1) / ?2"
        " ORDER BY count(*) DESC, avg(v.value) * ?3, min(job.number) LIMIT 1",
        key, ARRAY_LEN(key), err);
    int result;

    if (statement == NULL)
        return -1;
    result = store_step(store, statement, err);
    if (result > 0) {
        run->best_trial = sqlite3_column_int64(statement, 0);
        run->best = sqlite3_column_double(statement, 1);
    }
    store_query_end(store, statement);
    return result < 0 ? -1 : 0;
}

/* Ends the query. *count is the number of rows handed out. */
static int each_run(struct store *store, sqlite3_stmt *statement,
                    int (*row)(void *user, const struct run_row *run),
                    void *user, int64_t *count, struct err *err)
{
    struct run_row run;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_run(statement, &run);
        ++*count;
        result = run.repeats > 1 ? read_best_setting(store, &run, err) : 0;
        if (result == 0)
            result = row(user, &run);
        if (result != 0)
            break;
    }
    store_query_end(store, statement);
    return result;
}

/* A run whose parent is not there is like one of a person's. */
#define TREE                                                                   \
    "WITH RECURSIVE tree (id, path) AS ("                                      \
    "SELECT id, printf('%020d', id) FROM run AS r WHERE NOT EXISTS"            \
    " (SELECT 1 FROM run WHERE id = r.parent_id) UNION ALL"                    \
    " SELECT r.id, path || printf('%020d', r.id) FROM run AS r"                \
    "  JOIN tree ON r.parent_id = tree.id) "

int store_each_run(struct store *store,
                   int (*row)(void *user, const struct run_row *run),
                   void *user, struct err *err)
{
    int64_t count = 0;

    return each_run(
        store,
        store_query(store,
                    TREE SELECT_RUNS
                    " JOIN tree ON tree.id = run.id ORDER BY tree.path",
                    NULL, 0, err),
        row, user, &count, err);
}

static int get_run(struct store *store, const struct value key[2],
                   int (*row)(void *user, const struct run_row *run),
                   void *user, struct err *err)
{
    int64_t count = 0;
    int result = each_run(
        store,
        store_query_kept(store, SELECT_RUNS " WHERE run.id = ?1", key, 2, err),
        row, user, &count, err);

    if (result == 0 && count == 0)
        return err_set(err, ERR_NOT_FOUND, "no run %" PRId64, key[0].integer);
    return result;
}

int store_get_run(struct store *store, int64_t run,
                  int (*row)(void *user, const struct run_row *run), void *user,
                  struct err *err)
{
    const struct value key[] = {value_int(run), value_bool(false)};

    return get_run(store, key, row, user, err);
}

int store_get_run_uncounted(struct store *store, int64_t run,
                            int (*row)(void *user, const struct run_row *run),
                            void *user, struct err *err)
{
    const struct value key[] = {value_int(run), value_bool(true)};

    return get_run(store, key, row, user, err);
}

int store_each_child_run(struct store *store, int64_t run,
                         int (*row)(void *user, const struct run_row *run),
                         void *user, struct err *err)
{
    struct value id = value_int(run);
    int64_t count = 0;

    return each_run(
        store,
        store_query(store,
                    "WITH RECURSIVE below (run) AS (VALUES (?1) UNION"
                    " SELECT r.id FROM run AS r JOIN below"
                    "  ON r.parent_id = below.run) " SELECT_RUNS
                    " WHERE run.id IN (SELECT run FROM below)"
                    " AND run.id <> ?1 ORDER BY run.id",
                    &id, 1, err),
        row, user, &count, err);
}

int store_each_running_run(struct store *store, const char *spec_path,
                           const char *work_directory,
                           int (*row)(void *user, const struct run_row *run),
                           void *user, struct err *err)
{
    const struct value keys[] = {value_text(spec_path), value_bool(true),
                                 value_text(work_directory)};
    int64_t count = 0;

    return each_run(store,
                    store_query(store,
                                SELECT_RUNS
                                " WHERE run.state = 'running'"
                                " AND run.spec_path = ?1"
                                " AND run.work_directory = ?3"
                                " AND run.parent_id IS NULL ORDER BY run.id",
                                keys, ARRAY_LEN(keys), err),
                    row, user, &count, err);
}

/* ---- finding ---- */

static struct value selector_number(const char *selector)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(selector, &end, 10);
    if (errno != 0 || end == selector || *end != '\0')
        return value_null();
    return value_int(number);
}

static int not_found(struct store *store, const char *selector, struct err *err)
{
    sqlite3_stmt *statement = store_query(
        store, "SELECT name FROM run ORDER BY id DESC", NULL, 0, err);
    char **names = NULL;
    size_t count = 0, capacity = 0;
    const char *near;

    if (statement == NULL)
        return -1;
    while (store_step(store, statement, NULL) > 0) {
        names = mem_grow(names, count, &capacity, sizeof(*names));
        names[count++] = mem_copy_string(store_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    near = text_nearest(selector, (const char *const *)names, count);
    if (near != NULL)
        err_set(err, ERR_NOT_FOUND, "no run '%s' (did you mean '%s'?)",
                selector, near);
    else
        err_set(err, ERR_NOT_FOUND, "no run '%s' in the store '%s'", selector,
                store->directory);
    while (count > 0)
        free(names[--count]);
    free(names);
    return -1;
}

int store_find_run(struct store *store, const char *selector, int64_t *id,
                   struct err *err)
{
    struct value name = value_text(selector);
    struct value number = selector_number(selector);

    if (store_query_integer(store, "SELECT id FROM run WHERE name = ?1", &name,
                            1, id, err) < 0)
        return -1;
    if (*id == 0 && number.type == VALUE_INT &&
        store_query_integer(store, "SELECT id FROM run WHERE id = ?1", &number,
                            1, id, err) < 0)
        return -1;
    if (*id == 0 && strcmp(selector, "last") == 0 &&
        store_query_integer(store,
                            "SELECT max(id) FROM run WHERE parent_id IS NULL",
                            NULL, 0, id, err) < 0)
        return -1;
    return *id != 0 ? 0 : not_found(store, selector, err);
}

/* ---- names ---- */

/* The texts of one column, NULL-ended. */
static char **select_names(struct store *store, const char *sql, int64_t run,
                           struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query_kept(store, sql, &id, 1, err);
    char **names = NULL;
    size_t count = 0, capacity = 0;
    int row;

    if (statement == NULL)
        return NULL;
    while ((row = store_step(store, statement, err)) > 0) {
        names = mem_grow(names, count, &capacity, sizeof(*names));
        names[count++] = mem_copy_string(store_column_text(statement, 0));
    }
    store_query_end(store, statement);
    names = mem_grow(names, count, &capacity, sizeof(*names));
    names[count] = NULL;
    if (row == 0)
        return names;
    store_free_names(names);
    return NULL;
}

char **store_run_params(struct store *store, int64_t run, struct err *err)
{
    return select_names(
        store, "SELECT name FROM run_param WHERE run_id = ?1 ORDER BY idx", run,
        err);
}

char **store_run_objectives(struct store *store, int64_t run, char ***goals,
                            struct err *err)
{
    char **metrics = select_names(
        store,
        "SELECT metric FROM run_objective WHERE run_id = ?1 ORDER BY idx", run,
        err);

    if (metrics == NULL)
        return NULL;
    *goals = select_names(
        store, "SELECT goal FROM run_objective WHERE run_id = ?1 ORDER BY idx",
        run, err);
    if (*goals != NULL)
        return metrics;
    store_free_names(metrics);
    return NULL;
}

char **store_run_outcomes(struct store *store, int64_t run, struct err *err)
{
    return select_names(
        store, "SELECT metric FROM run_outcome WHERE run_id = ?1 ORDER BY idx",
        run, err);
}

char **store_run_steps(struct store *store, int64_t run, struct err *err)
{
    return select_names(
        store, "SELECT name FROM run_step WHERE run_id = ?1 ORDER BY idx", run,
        err);
}

void store_free_names(char **names)
{
    if (names == NULL)
        return;
    for (size_t i = 0; names[i] != NULL; i++)
        free(names[i]);
    free(names);
}

/* ---- constraints on outcomes ---- */

static double bound(sqlite3_stmt *statement, int column, double none)
{
    double limit = store_column_real(statement, column);

    return isnan(limit) ? none : limit;
}

int store_each_outcome(struct store *store, int64_t run,
                       int (*row)(void *user,
                                  const struct outcome_bounds *outcome),
                       void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT metric, min, max FROM run_outcome WHERE run_id = ?1"
                    " ORDER BY idx",
                    &id, 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        result = row(user, &(struct outcome_bounds){
                               .metric = store_column_text(statement, 0),
                               .min = bound(statement, 1, -(double)INFINITY),
                               .max = bound(statement, 2, (double)INFINITY),
                           });
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
