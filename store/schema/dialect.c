/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/schema/dialect.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"

enum { STRICT_TABLES = 3037000, OLDEST_AS_WRITTEN = STRICT_TABLES };

/* A column of type ANY has its values as they are in a STRICT table alone;
 * elsewhere that is BLOB. */
static const struct {
    int since;
    const char *words, *instead;
} changes[] = {
    {STRICT_TABLES, ") STRICT, WITHOUT ROWID", ") WITHOUT ROWID"},
    {STRICT_TABLES, ") STRICT", ")"},
    {STRICT_TABLES, " ANY ", " BLOB "},
    {3035000, " AS MATERIALIZED ", " AS "},
};

static size_t find_change(const char *at, int version)
{
    size_t i = 0;

    while (i < ARRAY_LEN(changes) &&
           (version >= changes[i].since ||
            strncmp(at, changes[i].words, strlen(changes[i].words)) != 0))
        i++;
    return i;
}

char *dialect_adapt(const char *sql, int version)
{
    struct buf out = BUF_INIT;

    if (version >= OLDEST_AS_WRITTEN)
        return NULL;
    while (*sql != '\0') {
        size_t i = find_change(sql, version);

        if (i < ARRAY_LEN(changes)) {
            buf_add_string(&out, changes[i].instead);
            sql += strlen(changes[i].words);
        } else {
            buf_add_char(&out, *sql++);
        }
    }
    buf_reserve(&out, 0);
    return out.data;
}

int dialect_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
    char *adapted = dialect_adapt(sql, sqlite3_libversion_number());
    int code = sqlite3_prepare_v2(db, adapted != NULL ? adapted : sql, -1,
                                  statement, NULL);

    free(adapted);
    return code;
}

int dialect_prepare_kept(sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
    char *adapted = dialect_adapt(sql, sqlite3_libversion_number());
    int code = sqlite3_prepare_v3(db, adapted != NULL ? adapted : sql, -1,
                                  SQLITE_PREPARE_PERSISTENT, statement, NULL);

    free(adapted);
    return code;
}

int dialect_exec(sqlite3 *db, const char *sql)
{
    char *adapted = dialect_adapt(sql, sqlite3_libversion_number());
    int code =
        sqlite3_exec(db, adapted != NULL ? adapted : sql, NULL, NULL, NULL);

    free(adapted);
    return code;
}

int dialect_check(sqlite3 *db, const char *path, struct err *err)
{
    if (sqlite3_libversion_number() >= STRICT_TABLES ||
        strstr(sqlite3_errmsg(db), "near \"STRICT\"") == NULL)
        return 0;
    return err_set(err, ERR_FAILED,
                   "store '%s' was made with SQLite 3.37 or later, and this "
                   "smtune has SQLite %s, which cannot read it: use a smtune "
                   "with a newer SQLite, or another folder (--store or "
                   "SMTUNE_STORE)",
                   path, sqlite3_libversion());
}
