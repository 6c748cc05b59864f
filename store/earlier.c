/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include "base/value.h"
#include "store/store_impl.h"

int store_add_earlier(struct store *store, int64_t run,
                      const struct earlier_row *earlier, struct err *err)
{
    return store_change(
        store, INSERT_EARLIER_RESULT,
        VALUES(value_int(run), value_int(earlier->index),
               value_text(earlier->source), value_int(earlier->number),
               value_text(earlier->state), value_text(earlier->params),
               value_text(earlier->values), value_text(earlier->outcomes)),
        err);
}

int store_each_earlier(struct store *store, int64_t run,
                       int (*row)(void *user,
                                  const struct earlier_row *earlier),
                       void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT idx, source, number, state, params, \"values\","
                    " outcomes FROM earlier_result WHERE run_id = ?1"
                    " ORDER BY idx",
                    &id, 1, err);
    struct earlier_row earlier;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        earlier.index = sqlite3_column_int64(statement, 0);
        earlier.source = store_column_text(statement, 1);
        earlier.number = sqlite3_column_int64(statement, 2);
        earlier.state = store_column_text(statement, 3);
        earlier.params = store_column_text(statement, 4);
        earlier.values = store_column_text(statement, 5);
        earlier.outcomes = store_column_text(statement, 6);
        result = row(user, &earlier);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_each_earlier_run(struct store *store, int64_t run,
                           int (*row)(void *user, const char *source,
                                      int64_t trials),
                           void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT source, count(*) FROM earlier_result WHERE run_id = ?1"
        " GROUP BY source ORDER BY min(idx)",
        &id, 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        result = row(user, store_column_text(statement, 0),
                     sqlite3_column_int64(statement, 1));
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
