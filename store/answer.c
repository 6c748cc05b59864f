/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers to requests that must take effect once. An answer is an event of the
 * run. A client that repeats its request after a crash finds the answer by the
 * request's id.
 */
#include "base/buf.h"
#include "store/event.h"
#include "store/store_impl.h"

int store_add_answer(struct store *store, int64_t run, const char *answer,
                     int64_t time_ms, struct err *err)
{
    return event_add(store,
                     &(struct event){.run = run,
                                     .time_ms = time_ms,
                                     .event = "answered",
                                     .detail = answer},
                     err);
}

int store_find_answer(struct store *store, const struct answer_query *query,
                      struct buf *answer, struct err *err)
{
    const struct value values[] = {
        value_int(query->run), value_int(query->since), value_text(query->id)};
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT detail FROM event WHERE run_id = ?1 AND seq > ?2"
        " AND event = 'answered' AND json_extract(detail, '$.id') = ?3",
        values, 3, err);
    int result = statement == NULL ? -1 : store_step(store, statement, err);

    if (result > 0)
        buf_add_string(answer, store_column_text(statement, 0));
    sqlite3_finalize(statement);
    return result;
}
