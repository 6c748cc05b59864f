/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/event.h"
#include "store/store_impl.h"

int store_add_enqueued(struct store *store, int64_t run, int64_t index,
                       const char *params, int64_t time_ms, struct err *err)
{
    struct buf *detail;

    if (store_change(store, INSERT_ENQUEUED,
                     VALUES(value_int(run), value_int(index),
                            value_text(params), value_int(time_ms)),
                     err) < 0)
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

int store_each_enqueued(struct store *store, int64_t run,
                        int (*row)(void *user,
                                   const struct enqueued_row *enqueued),
                        void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT idx, params, created_ms, trial FROM enqueued"
                    " WHERE run_id = ?1 ORDER BY idx",
                    &id, 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        const struct enqueued_row enqueued = {
            .index = sqlite3_column_int64(statement, 0),
            .params = store_column_text(statement, 1),
            .created_ms = sqlite3_column_int64(statement, 2),
            .trial = sqlite3_column_int64(statement, 3),
        };

        result = row(user, &enqueued);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
