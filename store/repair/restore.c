/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The copy is copied once more, by SQLite and not by the bytes of its file, so
 * that it may have a log; and checked, before anything of the store changes.
 */
#include "store/repair/restore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store/copy.h"
#include "store/engine_lock.h"
#include "store/lock.h"
#include "store/repair/exchange.h"
#include "store/sharing.h"
#include "store/store_impl.h"

static struct store *open_file(const struct restore *restore, struct err *err)
{
    if (fs_exists(restore->file))
        return store_open_copy(restore->directory, restore->file, err);
    err_set_errno(err, ERR_NOT_FOUND, errno, "cannot open '%s'", restore->file);
    return NULL;
}

static int copy_file(const struct restore *restore, struct store *from,
                     const char *part, struct err *err)
{
    sqlite3 *copy = store_copy_new(from->db, restore->directory, part, err);
    int result = copy != NULL ? store_copy_check(copy, part, err) : -1;

    if (copy != NULL && result != 0)
        err_prefix(err, "'%s'", restore->file);
    sqlite3_close(copy);
    return result == 0 ? store_copy_sync(part, err) : -1;
}

/* Holding the writers' lock. */
static int restore_locked(const struct restore *restore, struct store *from,
                          bool *has_kept, struct err *err)
{
    char *path = fs_join(restore->directory, "smtune.db");
    char *part = fs_join(restore->directory, "smtune.db.restoring");
    int result = engine_lock_check_none(restore->directory, err);

    *has_kept = fs_exists(path);
    if (result == 0)
        result = copy_file(restore, from, part, err);
    if (result == 0)
        result = exchange_databases(path, part, restore->kept, err);
    unlink(part);
    free(part);
    free(path);
    return result;
}

int store_restore(const struct restore *restore, bool *has_kept,
                  struct err *err)
{
    struct store *from = open_file(restore, err);
    int lock = -1, result = -1;

    if (from != NULL && store_check_member(restore->directory, err) == 0 &&
        fs_make_directories(restore->directory, err) == 0)
        lock = lock_open(restore->directory, err);
    if (lock >= 0 && lock_take(lock, LOCK_WAIT_MS, err) == 0)
        result = restore_locked(restore, from, has_kept, err);
    if (lock >= 0)
        close(lock);
    store_close(from);
    return result == 0 ? 0
                       : err_prefix(err, "store '%s' cannot be restored",
                                    restore->directory);
}
