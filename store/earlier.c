/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of earlier runs that a search starts from. They are copied into the
 * run when it begins, in the order of their indexes. The earlier run may then
 * be deleted, and a replay still finds the same input.
 */
#include "store/store.h"

#include "base/value.h"
#include "store/rows.h"
#include "store/store_impl.h"

int store_add_earlier(struct store *store, int64_t run,
                      const struct earlier_row *earlier, struct err *err)
{
    const struct value cells[EARLIER_COLUMN_COUNT + 1] = {
        [EARLIER_CELL_IDX] = value_int(earlier->index),
        [EARLIER_CELL_SOURCE] = value_text(earlier->source),
        [EARLIER_CELL_NUMBER] = value_int(earlier->number),
        [EARLIER_CELL_STATE] = value_text(earlier->state),
        [EARLIER_CELL_PARAMS] = value_text(earlier->params),
        [EARLIER_CELL_VALUES] = value_text(earlier->values),
        [EARLIER_CELL_OUTCOMES] = value_text(earlier->outcomes),
        [EARLIER_COLUMN_COUNT] = value_int(run),
    };

    return store_change(store, INSERT_EARLIER_RESULT, cells, ARRAY_LEN(cells),
                        err);
}

static void read_earlier(sqlite3_stmt *statement, struct earlier_row *row)
{
    COLUMN_READS(EARLIER_COLUMNS)
}

int store_each_earlier(struct store *store, int64_t run,
                       int (*row)(void *user,
                                  const struct earlier_row *earlier),
                       void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT " COLUMN_NAMES(EARLIER_COLUMNS) " FROM earlier_result WHERE "
                                                "run_id = ?1 ORDER BY idx",
        &id, 1, err);
    struct earlier_row earlier;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_earlier(statement, &earlier);
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
