/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The copy is complete before the tables change, and keeps its name: an older
 * smtune, which cannot read the tables any more, finds it by that. It has the
 * secrets of the store, as it stays in the store's folder, with its modes.
 */
#include "store/upgrade.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/copy.h"
#include "store/engine_lock.h"
#include "store/store_impl.h"

static const char copy_name[] = "smtune.db.version-";

/* ---- to the newest version ---- */

static int write_copy(struct store *store, const char *part, const char *path,
                      struct err *err)
{
    sqlite3 *copy = store_copy_new(store->db, store->directory, part, err);

    sqlite3_close(copy);
    return copy != NULL ? store_copy_keep(part, path, err) : -1;
}

/* Its path, the caller's to free; NULL on error. */
static char *keep_copy(struct store *store, int64_t version, struct err *err)
{
    char *part = fs_join(store->directory, "smtune.db.upgrading");
    char stamp[32];
    char *path;

    clock_format_stamp(clock_wall_ms(), stamp, sizeof(stamp));
    path = mem_printf("%s/%s%" PRId64 "-%s", store->directory, copy_name,
                      version, stamp);
    if (write_copy(store, part, path, err) != 0) {
        unlink(part);
        free(path);
        path = NULL;
    }
    free(part);
    return path;
}

static int migrate(struct store *store, int64_t version, struct err *err)
{
    int result = store_execute(store, "BEGIN IMMEDIATE", err);

    if (result == 0 &&
        migrations_run(store->migrations, store->db, version) != SQLITE_OK)
        result = store_fail(store, err);
    if (result == 0)
        result = store_execute(store, "COMMIT", err);
    if (result < 0 && !sqlite3_get_autocommit(store->db))
        store_execute(store, "ROLLBACK", NULL);
    return result;
}

int upgrade_store(struct store *store, int64_t version, struct err *err)
{
    char *copy = NULL;
    int result = -1;

    if (version == 0)
        return migrate(store, version, err);
    if (engine_lock_check_none(store->directory, err) == 0)
        copy = keep_copy(store, version, err);
    if (copy != NULL)
        result = migrate(store, version, err);
    if (result != 0 && copy != NULL)
        unlink(copy);
    free(copy);
    return result == 0
               ? 0
               : err_prefix(err,
                            "store '%s' cannot be upgraded from version "
                            "%" PRId64 " of its tables to %zu",
                            store->path, version,
                            store->migrations->step_count);
}

/* ---- back ---- */

/* Whether the name is that of a copy, and of which version. */
static bool is_copy(const char *name, int64_t *version)
{
    char *end;

    if (!text_begins_with(name, copy_name))
        return false;
    *version = strtoll(name + strlen(copy_name), &end, 10);
    return *end == '-' && strlen(end + 1) == strlen("20261121T100000Z");
}

/* The newest copy that this smtune can read; NULL: none. The caller's to
 * free. */
static char *find_copy(const struct store *store)
{
    DIR *directory = opendir(store->directory);
    const struct dirent *entry;
    int64_t newest = 0, version;
    char *found = NULL;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (!is_copy(entry->d_name, &version) || version < newest ||
            version > (int64_t)store->migrations->step_count ||
            (version == newest && found != NULL &&
             strcmp(entry->d_name, found) < 0))
            continue;
        newest = version;
        free(found);
        found = mem_copy_string(entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    return found;
}

static void print_release(struct store *store, struct buf *out)
{
    sqlite3_stmt *statement =
        store_query(store, "SELECT smtune FROM schema_release", NULL, 0, NULL);

    if (statement != NULL && store_step(store, statement, NULL) > 0)
        buf_printf(out, "use smtune %s or a later one",
                   store_column_text(statement, 0));
    else
        buf_add_string(out, "use the newer one");
    sqlite3_finalize(statement);
}

static void print_way_back(const struct store *store, struct buf *out)
{
    char *copy = find_copy(store);
    char *path;

    if (copy == NULL)
        return;
    path = fs_join(store->directory, copy);
    buf_add_string(out, ", or go back to the copy from before its upgrade: "
                        "smtune restore ");
    shell_add_word(path, out);
    free(path);
    free(copy);
}

int upgrade_refuse(struct store *store, int64_t version, struct err *err)
{
    struct buf way = BUF_INIT;

    print_release(store, &way);
    print_way_back(store, &way);
    err_set(err, ERR_FAILED,
            "store '%s' was written by a newer smtune (its tables have version "
            "%" PRId64 ", smtune " SMTUNE_VERSION " supports up to %zu): %s",
            store->path, version, store->migrations->step_count,
            buf_text(&way));
    buf_clear(&way);
    return -1;
}
