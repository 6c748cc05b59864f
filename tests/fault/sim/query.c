/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sqlite3.h>

#include "tests/fault/sim/disk_impl.h"

/*
 * What SQLite answers to a query: the linker puts this in the place of its own.
 * A page that cannot be read is met by any query, whatever was read before; to
 * begin, end and take back a transaction needs none.
 */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

/* Expressions are evaluated in memory. */
static bool is_on_disk(sqlite3_stmt *statement)
{
    const char *name =
        sqlite3_db_filename(sqlite3_db_handle(statement), "main");

    return name != NULL && name[0] != '\0';
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (is_on_disk(statement) && sqlite3_column_count(statement) > 0 &&
        disk_denies(world_get()->disk))
        return SQLITE_IOERR_READ;
    return __real_sqlite3_step(statement);
}
