/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include "base/value.h"
#include "store/store_impl.h"

int store_add_notification(struct store *store,
                           const struct notification_new *notification,
                           int64_t *id, struct err *err)
{
    if (store_change(store, INSERT_NOTIFICATION,
                     VALUES(value_int(notification->run),
                            value_text(notification->delivery),
                            value_int(notification->receiver),
                            value_text(notification->event),
                            value_text(notification->body),
                            value_int(notification->time_ms)),
                     err) < 0)
        return -1;
    *id = sqlite3_last_insert_rowid(store->db);
    return 0;
}

int store_set_notification(struct store *store,
                           const struct notification_try *result,
                           struct err *err)
{
    return store_change(
        store, UPDATE_NOTIFICATION,
        VALUES(value_int(result->id), value_int(result->tries),
               value_int(result->due_ms), int_unless(result->delivered_ms, 0),
               int_unless(result->given_up_ms, 0), value_text(result->error)),
        err);
}

int store_each_notification(struct store *store, int64_t run,
                            int (*row)(void *user,
                                       const struct notification_row *row),
                            void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT id, delivery, receiver, event, body, created_ms, tries,"
        " due_ms, coalesce(delivered_ms, 0), coalesce(given_up_ms, 0), error"
        " FROM notification WHERE run_id = ?1 ORDER BY id",
        &id, 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        const struct notification_row notification = {
            .id = sqlite3_column_int64(statement, 0),
            .delivery = store_column_text(statement, 1),
            .receiver = sqlite3_column_int64(statement, 2),
            .event = store_column_text(statement, 3),
            .body = store_column_text(statement, 4),
            .created_ms = sqlite3_column_int64(statement, 5),
            .tries = sqlite3_column_int64(statement, 6),
            .due_ms = sqlite3_column_int64(statement, 7),
            .delivered_ms = sqlite3_column_int64(statement, 8),
            .given_up_ms = sqlite3_column_int64(statement, 9),
            .error = store_column_text(statement, 10),
        };

        result = row(user, &notification);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
