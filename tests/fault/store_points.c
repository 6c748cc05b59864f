/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: store_commit */
/*
 * The store's points: a commit as a whole, and SQLite's memory, which unlike
 * ours is not the end of the program when it cannot be had.
 */
#include <sqlite3.h>

#include "base/compiler.h"
#include "store/store.h"
#include "tests/fault/points.h"

int __real_store_commit(struct store *store, struct err *err);
int __wrap_store_commit(struct store *store, struct err *err);

/* A point before it and one after it; only the first can fail. */
int __wrap_store_commit(struct store *store, struct err *err)
{
    int result;

    if (fault_fails(point_reach(POINT_COMMIT, true))) {
        store_rollback(store);
        return err_set(err, ERR_FAILED, "the commit was made to fail");
    }
    result = __real_store_commit(store, err);
    if (result == 0)
        point_reach(POINT_COMMIT, true);
    return result;
}

static sqlite3_mem_methods memory;

static bool lacks_memory(void)
{
    return fault_fails(point_reach(POINT_MALLOC, false));
}

static void *allocate(int bytes)
{
    return lacks_memory() ? NULL : memory.xMalloc(bytes);
}

static void *resize(void *old, int bytes)
{
    return lacks_memory() ? NULL : memory.xRealloc(old, bytes);
}

__attribute__((constructor)) static void replace_memory(void)
{
    sqlite3_mem_methods own;

    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
    own = memory;
    own.xMalloc = allocate;
    own.xRealloc = resize;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &own);
}
