/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_SCHEMA_MIGRATE_H
#define SMTUNE_STORE_SCHEMA_MIGRATE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The versions of a store's tables, and the way from each to the next. */

/* steps[v] is the SQL that makes version v + 1 of version v; steps[0] makes the
 * tables of an empty store. The newest version is step_count. */
struct migrations {
    const char *const *steps;
    size_t step_count;
};

extern const struct migrations store_migrations;

/* What a database file says of itself. */
struct file_mark {
    int64_t table_count;
    int64_t application; /* PRAGMA application_id */
    int64_t version;     /* PRAGMA user_version; 0: the store is still empty */
};

/* 0 where it is a store, of any version; -1 with an error, which names `path`,
 * where it is somebody else's, or from before the first release. */
int migrations_check(const struct file_mark *mark, const char *path,
                     struct err *err);

/* Brings a store from a version to the newest one, and marks it so. The caller
 * has opened a transaction, which he rolls back where this fails. An SQLite
 * result code, SQLITE_OK on success. */
int migrations_run(const struct migrations *migrations, sqlite3 *db,
                   int64_t version);

#endif
