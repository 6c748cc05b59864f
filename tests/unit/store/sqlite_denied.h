/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STORE_SQLITE_DENIED_H
#define SMTUNE_TESTS_UNIT_STORE_SQLITE_DENIED_H

#include <sqlite3.h>
#include <stdbool.h>

/* The n-th of what a test asks SQLite for fails: its linker puts these in place
 * (--wrap), in one file a program. */

/* Calls until one fails; 0: none does. */
static int denied_in;

static bool is_denied(void)
{
    return denied_in > 0 && --denied_in == 0;
}

int __real_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest);
int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest);
int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest)
{
    if (is_denied())
        return SQLITE_NOMEM;
    return __real_sqlite3_prepare_v2(db, sql, length, statement, rest);
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    return is_denied() ? SQLITE_IOERR : __real_sqlite3_step(statement);
}

#endif
