/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notifications that are to be sent. A notification commits together with the
 * event that it reports, so that a crash loses neither. Sending comes later and
 * may happen twice; receivers recognize a repetition by the delivery id. The
 * table is in docs/database.md.
 */
#include "store/store.h"

#include "base/value.h"
#include "store/rows.h"
#include "store/store_impl.h"

int store_add_notification(struct store *store,
                           const struct notification_new *notification,
                           int64_t *id, struct err *err)
{
    const struct value cells[NOTIFICATION_COLUMN_COUNT + 1] = {
        [NOTIFICATION_CELL_DELIVERY] = value_text(notification->delivery),
        [NOTIFICATION_CELL_RECEIVER] = value_int(notification->receiver),
        [NOTIFICATION_CELL_EVENT] = value_text(notification->event),
        [NOTIFICATION_CELL_BODY] = value_text(notification->body),
        [NOTIFICATION_CELL_CREATED_MS] = value_int(notification->time_ms),
        [NOTIFICATION_CELL_TRIES] = value_int(0),
        [NOTIFICATION_CELL_DUE_MS] = value_int(notification->time_ms),
        [NOTIFICATION_COLUMN_COUNT] = value_int(notification->run),
    };

    if (store_change(store, INSERT_NOTIFICATION, cells, ARRAY_LEN(cells), err) <
        0)
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

int store_address_notification(struct store *store,
                               const struct notification_address *address,
                               struct err *err)
{
    const char *error = address->given_up_ms > 0
                            ? "its receiver is not in the edited file"
                            : NULL;

    return store_change(
        store, ADDRESS_NOTIFICATION,
        VALUES(value_int(address->id), value_int(address->receiver),
               int_unless(address->given_up_ms, 0), value_text_or_null(error)),
        err);
}

static void read_notification(sqlite3_stmt *statement,
                              struct notification_row *row)
{
    COLUMN_READS(NOTIFICATION_COLUMNS)
}

int store_each_notification(struct store *store, int64_t run,
                            int (*row)(void *user,
                                       const struct notification_row *row),
                            void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT " COLUMN_NAMES(NOTIFICATION_COLUMNS) " FROM notification WHERE "
                                                     "run_id = ?1 ORDER BY id",
        &id, 1, err);
    struct notification_row notification;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_notification(statement, &notification);
        result = row(user, &notification);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
