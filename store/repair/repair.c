/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/repair/repair.h"

#include "base/compiler.h"
#include "store/store_impl.h"

#define WITHOUT(table, column, parent)                                         \
    "DELETE FROM " table " WHERE NOT EXISTS (SELECT 1 FROM " parent            \
    " AS p WHERE p.id = " table "." column ")"

/* Parents before their children. */
static const char *const orphans[] = {
    WITHOUT("job", "run_id", "run"),
    WITHOUT("attempt", "job_id", "job"),
    WITHOUT("param_value", "job_id", "job"),
    WITHOUT("job_value", "job_id", "job"),
    WITHOUT("job_outcome", "job_id", "job"),
    WITHOUT("metric", "job_id", "job"),
    WITHOUT("metric", "name_id", "metric_name"),
    WITHOUT("metric", "attempt_id", "attempt"),
    WITHOUT("observation", "run_id", "run"),
    WITHOUT("observation", "job_id", "job"),
    WITHOUT("run_objective", "run_id", "run"),
    WITHOUT("run_outcome", "run_id", "run"),
    WITHOUT("run_param", "run_id", "run"),
    WITHOUT("run_rung", "run_id", "run"),
    WITHOUT("run_step", "run_id", "run"),
    WITHOUT("enqueued", "run_id", "run"),
    WITHOUT("earlier_result", "run_id", "run"),
    WITHOUT("superseded_result", "run_id", "run"),
    WITHOUT("notification", "run_id", "run"),
    WITHOUT("event", "run_id", "run"),
};

int store_remove_orphans(struct store *store, int64_t *count, struct err *err)
{
    *count = 0;
    for (size_t i = 0; i < ARRAY_LEN(orphans); i++) {
        if (store_execute(store, orphans[i], err) < 0)
            return -1;
        *count += sqlite3_changes(store->db);
    }
    return 0;
}

int store_each_lost_run(struct store *store,
                        int (*row)(void *user, int64_t run), void *user,
                        struct err *err)
{
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT DISTINCT run_id FROM event"
                    " WHERE run_id NOT IN (SELECT id FROM run)",
                    NULL, 0, err);
    int result = -1;

    while (statement != NULL &&
           (result = store_step(store, statement, err)) > 0) {
        result = row(user, sqlite3_column_int64(statement, 0));
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
