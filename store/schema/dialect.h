/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_SCHEMA_DIALECT_H
#define SMTUNE_STORE_SCHEMA_DIALECT_H

#include <sqlite3.h>

#include "base/err.h"

/*
 * The store's SQL is written for SQLite 3.37. An older one gets it without the
 * words that it does not know. No result depends on them: STRICT tables, which
 * refuse values of another type, and MATERIALIZED, which is about speed.
 */

/* NULL: that version (3034001: 3.34.1) reads the text as it is; else a copy
 * for it, which the caller frees. */
char *dialect_adapt(const char *sql, int version);

/* sqlite3_prepare_v2(), the same for a statement that is kept, and
 * sqlite3_exec(), of adapted text. */
int dialect_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement);
int dialect_prepare_kept(sqlite3 *db, const char *sql,
                         sqlite3_stmt **statement);
int dialect_exec(sqlite3 *db, const char *sql);

/* What the tables of the store that was read last need and this SQLite lacks,
 * which reports damage then: -1 with an error that names `path`; else 0. */
int dialect_check(sqlite3 *db, const char *path, struct err *err);

#endif
