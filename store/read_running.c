/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attempts of all runs at once: where they run now, and how they ended. The
 * condition `state <> 'ended'` looks redundant, but it lets SQLite use the
 * partial index of attempts that have not ended.
 */
#include <sqlite3.h>

#include "base/err.h"
#include "store/store_impl.h"

int store_each_attempt_fate(struct store *store, int64_t after, int64_t last,
                            int (*row)(void *user,
                                       const struct attempt_fate *fate),
                            void *user, struct err *err)
{
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT a.id, job.run_id, a.cause,"
                    " ifnull(a.ended_ms - a.started_ms, 0)"
                    " FROM attempt AS a CROSS JOIN job ON job.id = a.job_id"
                    " WHERE a.id > ?1 AND a.id <= ?2 ORDER BY a.id",
                    VALUES(value_int(after), value_int(last)), err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        const struct attempt_fate fate = {
            .attempt = sqlite3_column_int64(statement, 0),
            .run = sqlite3_column_int64(statement, 1),
            .cause = store_column_text_or_null(statement, 2),
            .took_ms = sqlite3_column_int64(statement, 3),
        };

        result = row(user, &fate);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_each_running(struct store *store,
                       int (*row)(void *user, const struct running_row *row),
                       void *user, struct err *err)
{
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT run.id, run.name, a.node, count(*)"
                    " FROM attempt AS a JOIN job ON job.id = a.job_id"
                    " JOIN run ON run.id = job.run_id"
                    " WHERE a.state <> 'ended' AND a.state = 'running'"
                    " GROUP BY run.id, a.node ORDER BY run.id, a.node",
                    NULL, 0, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        const struct running_row running = {
            .run = sqlite3_column_int64(statement, 0),
            .run_name = store_column_text(statement, 1),
            .node = store_column_text_or_null(statement, 2),
            .attempts = sqlite3_column_int64(statement, 3),
        };

        result = row(user, &running);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
