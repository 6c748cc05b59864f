/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings that users ask a run to try next. A row and its event commit
 * together. Rows keep the order of their indexes. The engine marks a row with
 * the number of its trial (TAKE_ENQUEUED), so that none is tried twice.
 */
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

int store_add_enqueued(struct store *store, int64_t run, int64_t index,
                       const char *params, int64_t time_ms, struct err *err)
{
    const struct value cells[ENQUEUED_COLUMN_COUNT + 1] = {
        [ENQUEUED_CELL_IDX] = value_int(index),
        [ENQUEUED_CELL_PARAMS] = value_text(params),
        [ENQUEUED_CELL_CREATED_MS] = value_int(time_ms),
        [ENQUEUED_COLUMN_COUNT] = value_int(run),
    };
    struct buf *detail;

    if (store_change(store, INSERT_ENQUEUED, cells, ARRAY_LEN(cells), err) < 0)
        return -1;
    detail = detail_start(store);
    detail_int(detail, "idx", index);
    detail_text(detail, "params", params);
    return event_add(store,
                     &(struct event){.run = run,
                                     .time_ms = time_ms,
                                     .event = "enqueued",
                                     .detail = detail_end(detail)},
                     err);
}

static void read_enqueued(sqlite3_stmt *statement, struct enqueued_row *row)
{
    COLUMN_READS(ENQUEUED_COLUMNS)
}

int store_each_enqueued(struct store *store, int64_t run,
                        int (*row)(void *user,
                                   const struct enqueued_row *enqueued),
                        void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT " COLUMN_NAMES(
            ENQUEUED_COLUMNS) " FROM enqueued WHERE run_id = ?1 ORDER BY idx",
        &id, 1, err);
    struct enqueued_row enqueued;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_enqueued(statement, &enqueued);
        result = row(user, &enqueued);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
