/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transaction of a writer, under the writers' lock, and a reader's moment.
 */
#include "store/lock.h"
#include "store/store_impl.h"

int store_begin(struct store *store, struct err *err)
{
    if (store->in_transaction)
        return 0;
    if (store->lock_fd < 0)
        return err_set(err, ERR_FAILED, "store '%s' is open for reading only",
                       store->directory);
    if (lock_take(store->lock_fd, LOCK_WAIT_MS, err) < 0)
        return err_prefix(err, "store '%s'", store->directory);
    if (store_execute(store, "BEGIN IMMEDIATE", err) < 0) {
        lock_release(store->lock_fd);
        return -1;
    }
    store->in_transaction = true;
    return 0;
}

bool store_in_transaction(const struct store *store)
{
    return store->in_transaction;
}

/* After some failures SQLite has rolled back by itself. */
static void end_transaction(struct store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    store->in_transaction = false;
    lock_release(store->lock_fd);
}

int store_commit(struct store *store, struct err *err)
{
    int result;

    if (!store->in_transaction)
        return 0;
    result =
        sqlite3_get_autocommit(store->db)
            ? err_set(
                  err, ERR_FAILED,
                  "store '%s': an earlier error rolled back the transaction",
                  store->path)
            : store_execute(store, "COMMIT", err);
    end_transaction(store);
    return result;
}

void store_rollback(struct store *store)
{
    if (store->in_transaction)
        end_transaction(store);
}

int store_read_begin(struct store *store, bool *began, struct err *err)
{
    *began = sqlite3_get_autocommit(store->db) != 0;
    return *began ? store_execute(store, "BEGIN", err) : 0;
}

void store_read_end(struct store *store, bool began)
{
    if (began)
        sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}
