/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/repair/check.h"

#include <string.h>

#include "base/compiler.h"
#include "store/store_impl.h"

/* Statements that give a line for each thing that is wrong, or "ok". */
static const char *const checks[] = {
    "PRAGMA integrity_check",
    "SELECT 'table ' || \"table\" || ', row ' || ifnull(rowid, '?')"
    " || ': its parent row is missing' FROM pragma_foreign_key_check",
    "SELECT 'table metric: job ' || metric.job_id || ' has no attempt '"
    " || attempt_id FROM metric"
    " LEFT JOIN attempt ON attempt.id = attempt_id"
    " WHERE attempt.job_id IS NOT metric.job_id"
    " GROUP BY metric.job_id, attempt_id",
    "SELECT 'table observation: feedback ' || o.told || ' of run '"
    " || o.run_id || ' has no attempt ' || attempt_id"
    " FROM observation AS o LEFT JOIN attempt ON attempt.id = o.attempt_id"
    " LEFT JOIN job ON job.id = o.job_id"
    " WHERE attempt.job_id IS NOT job.id OR job.run_id IS NOT o.run_id",
    "SELECT 'table job: job ' || job.id || ' has no step ' || step FROM job"
    " LEFT JOIN run_step AS s ON s.run_id = job.run_id AND s.idx = job.step"
    " WHERE job.step IS NOT NULL AND s.idx IS NULL",
    "SELECT 'table job: step ' || step || ' of run ' || job.run_id || ' has '"
    " || count(*) || ' jobs of copy ' || copy || ' in one round' FROM job"
    " JOIN run_step AS s ON s.run_id = job.run_id AND s.idx = job.step"
    " AND job.number >= s.first_job"
    " GROUP BY job.run_id, step, copy, round HAVING count(*) > 1",
    "SELECT 'event ' || seq || ': its job ' || event.job_id"
    " || ' belongs to another run' FROM event JOIN job ON job.id = event.job_id"
    " WHERE job.run_id <> event.run_id",
};

static int run_check(struct store *store, const char *sql,
                     void (*found)(void *user, const char *text), void *user,
                     struct err *err)
{
    sqlite3_stmt *statement = store_query(store, sql, NULL, 0, err);
    int row = -1;

    while (statement != NULL && (row = store_step(store, statement, err)) > 0) {
        const char *text = store_column_text(statement, 0);

        if (strcmp(text, "ok") != 0)
            found(user, text);
    }
    sqlite3_finalize(statement);
    return row;
}

int store_check(struct store *store,
                void (*found)(void *user, const char *text), void *user,
                struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (run_check(store, checks[i], found, user, err) < 0)
            return -1;
    }
    return 0;
}
