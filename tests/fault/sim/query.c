/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: sqlite3_exec sqlite3_step */
#include <sqlite3.h>
#include <string.h>

#include "tests/fault/sim/disk_impl.h"

/*
 * What SQLite answers to a statement: the linker puts this in the place of its
 * own. A page that cannot be read is met by any that reads or writes, whatever
 * was read before; to end and take back a transaction needs none.
 */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, sqlite3_callback row,
                        void *user, char **message);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, sqlite3_callback row,
                        void *user, char **message);

/* Expressions are evaluated in memory. */
static bool is_on_disk(sqlite3 *db)
{
    const char *name = sqlite3_db_filename(db, "main");

    return name != NULL && name[0] != '\0';
}

static bool needs_pages(sqlite3_stmt *statement)
{
    return sqlite3_column_count(statement) > 0 ||
           !sqlite3_stmt_readonly(statement);
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (is_on_disk(sqlite3_db_handle(statement)) && needs_pages(statement) &&
        disk_denies(world_get()->disk))
        return SQLITE_IOERR_READ;
    return __real_sqlite3_step(statement);
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, sqlite3_callback row,
                        void *user, char **message)
{
    if (is_on_disk(db) && strncmp(sql, "BEGIN", strlen("BEGIN")) == 0 &&
        disk_denies(world_get()->disk))
        return SQLITE_IOERR_READ;
    return __real_sqlite3_exec(db, sql, row, user, message);
}
