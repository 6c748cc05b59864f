/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The version of a store's tables is PRAGMA user_version. A writer brings an
 * older store to the newest version when it opens it, all steps and the new
 * mark in one transaction: after a kill or an error it has its old version.
 *
 * To change the tables after a release, add a file of SQL beside schema.sql, a
 * name for its text in schema.c, and a line to `steps`. A step that was
 * released never changes again. Tables that a step alters keep their rows;
 * SQLite cannot change a CHECK but by the table's text, for which its
 * protection is off while steps run (https://sqlite.org/lang_altertable.html,
 * at the end).
 *
 * Each step also makes the view schema_release anew: SELECT 'VERSION' AS smtune
 * is the first smtune with these tables. An older one refuses the store and
 * names that version (store/upgrade.h).
 *
 * Stores that were made before the first release have a mark of their own.
 * Their tables had ten versions, which nothing here can read: they are refused.
 */
#include "store/schema/migrate.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "store/schema/dialect.h"
#include "store/schema/schema.h"

enum {
    APPLICATION_ID = 0x736d7475, /* "smtu" */
    UNRELEASED_ID = 0x736d746e   /* "smtn" */
};

static const char *const steps[] = {store_schema};

const struct migrations store_migrations = {steps, ARRAY_LEN(steps)};

int migrations_check(const struct file_mark *mark, const char *path,
                     struct err *err)
{
    if (mark->application == UNRELEASED_ID)
        return err_set(err, ERR_FAILED,
                       "store '%s' was made by a smtune from before its first "
                       "release, and this one cannot read it: use another "
                       "folder (--store or SMTUNE_STORE)",
                       path);
    if (mark->application != APPLICATION_ID &&
        (mark->table_count > 0 || mark->application != 0))
        return err_set(err, ERR_FAILED, "'%s' is not a store of smtune", path);
    return 0;
}

int migrations_run(const struct migrations *migrations, sqlite3 *db,
                   int64_t version)
{
    char *stamp = mem_printf("PRAGMA application_id = %d;"
                             "PRAGMA user_version = %zu",
                             APPLICATION_ID, migrations->step_count);
    int code = SQLITE_OK;

    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    for (size_t step = (size_t)version;
         code == SQLITE_OK && step < migrations->step_count; step++)
        code = dialect_exec(db, migrations->steps[step]);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, stamp, NULL, NULL, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    free(stamp);
    return code;
}
