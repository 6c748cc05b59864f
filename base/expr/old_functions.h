/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_OLD_FUNCTIONS_H
#define SMTUNE_BASE_EXPR_OLD_FUNCTIONS_H

#include <sqlite3.h>

/* Of SQLite 3.31 */
#ifndef SQLITE_INNOCUOUS
#define SQLITE_INNOCUOUS 0
#endif

/* The functions of SQLite that its version `version` (3034001: 3.34.1) lacks
 * and expressions or the store use, with the same results: iif(), sign(), and
 * those of mathematics, which a build of it may also have left out. An SQLite
 * result code. */
int old_functions_add(sqlite3 *db, int version);

/* sqlite3_error_offset() of SQLite 3.38: where in `sql` the token is at which
 * the statement could not be read; -1 where that is unknown. */
int old_functions_error_offset(sqlite3 *db, const char *sql);

#endif
