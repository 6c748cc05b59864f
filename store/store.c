/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening and closing.
 *
 * SQLite before 3.51.3 can corrupt a WAL when two connections write and
 * checkpoint at the same time. So there is one flock beside the database, and
 * whoever writes, checkpoints or migrates holds it: a transaction takes it
 * before BEGIN IMMEDIATE and lets go after COMMIT, within which SQLite's own
 * automatic checkpoint falls. Readers have no automatic checkpoint, and nobody
 * checkpoints on close but a writer that gets the lock at once.
 *
 * A file is looked at before it is touched: one that is not ours, newer or
 * damaged is left as it was, byte for byte.
 *
 * On a file system of the network there cannot be such a log. A store is made
 * there only when its user says that it may be (SMTUNE_STORE_JOURNAL=delete),
 * with a rollback journal, which is slower; from then on its file says so
 * itself.
 */
#include "store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/expr/old_functions.h"
#include "base/fs.h"
#include "base/mem.h"
#include "store/file_modes.h"
#include "store/file_system.h"
#include "store/lock.h"
#include "store/schema/migrate.h"
#include "store/sharing.h"
#include "store/upgrade.h"

enum {
    BUSY_TIMEOUT_MS = 5000,
    READERS_TIMEOUT_MS = 30000 /* without a log they are in a writer's way */
};

/* ---- opening ---- */

static int64_t newest_version(const struct store *store)
{
    return (int64_t)store->migrations->step_count;
}

/* Looks without touching. *version is 0 for a store that is still empty. In
 * this order, as one may be made meanwhile: tables come with their id. */
static int check_file(struct store *store, int64_t *version, struct err *err)
{
    struct file_mark mark;

    if (store_query_integer(store, "SELECT count(*) FROM sqlite_master", NULL,
                            0, &mark.table_count, err) < 0 ||
        store_query_integer(store, "PRAGMA application_id", NULL, 0,
                            &mark.application, err) < 0 ||
        store_query_integer(store, "PRAGMA user_version", NULL, 0,
                            &mark.version, err) < 0)
        return -1;
    *version = mark.version;
    if (migrations_check(&mark, store->path, err) < 0)
        return -1;
    return mark.version >= 0 && mark.version <= newest_version(store)
               ? 0
               : upgrade_refuse(store, mark.version, err);
}

/* In the file's header: it is written through a log. A new one has none. */
static bool is_marked_for_log(const struct store *store)
{
    enum { READ_VERSION = 19, WITH_LOG = 2 };
    unsigned char header[READ_VERSION + 1] = {0};
    int fd = open(store->path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, header, sizeof(header)) : -1;

    if (fd >= 0)
        close(fd);
    return length == (ssize_t)sizeof(header) &&
           header[READ_VERSION] == WITH_LOG;
}

/* Before the database is opened: whether it may lie where it does, and how. */
static int check_place(struct store *store, struct err *err)
{
    const char *journal = getenv("SMTUNE_STORE_JOURNAL");
    struct file_system place;

    if (journal != NULL && journal[0] != '\0' && strcmp(journal, "delete") != 0)
        return err_set(
            err, ERR_USAGE,
            "SMTUNE_STORE_JOURNAL must be 'delete' or not set, not '%s'",
            journal);
    store->is_without_log = journal != NULL && journal[0] != '\0';
    if (store->is_without_log ||
        file_system_find(store->directory, &place) < 0 || !place.is_network)
        return 0;
    store->is_without_log = !is_marked_for_log(store);
    if (store->is_without_log)
        return 0;
    return err_set(
        err, ERR_FAILED,
        "store '%s' is on a network file system (%s), where its log can damage "
        "it: set SMTUNE_STORE_JOURNAL=delete once to remove the log, or use a "
        "folder on a local disk (--store or SMTUNE_STORE)",
        store->directory, place.name);
}

/* EXTRA at first: a file becomes one with a log through a rollback journal. If
 * that came back after a power cut, it would undo all since.
 *
 * A rollback journal is emptied, not removed: NFS repeats a request where the
 * server crashed before it answered, and a file that is gone already is an
 * error then. */
static int set_up_journal(struct store *store, struct err *err)
{
    bool has_log;

    if (store_execute(store,
                      store->is_without_log ? "PRAGMA journal_mode = TRUNCATE;"
                                              "PRAGMA synchronous = EXTRA"
                                            : "PRAGMA synchronous = EXTRA;"
                                              "PRAGMA journal_mode = WAL;"
                                              "PRAGMA synchronous = FULL",
                      err) < 0 ||
        store_has_log(store, &has_log, err) < 0)
        return -1;
    if (has_log != store->is_without_log)
        return 0;
    return err_set(err, ERR_FAILED,
                   "store '%s': its file system does not support the log of a "
                   "database: use another folder (--store or SMTUNE_STORE), or "
                   "set SMTUNE_STORE_JOURNAL=delete, which is slower",
                   store->directory);
}

static int set_up_writer(struct store *store, struct err *err)
{
    int64_t version;

    if (check_file(store, &version, err) < 0 ||
        set_up_journal(store, err) < 0 ||
        store_execute(store,
                      "PRAGMA cache_size = -8000;"
                      "PRAGMA foreign_keys = ON;"
                      "PRAGMA journal_size_limit = 16777216",
                      err) < 0)
        return -1;
    return version == newest_version(store)
               ? 0
               : upgrade_store(store, version, err);
}

static int set_up_reader(struct store *store, int64_t *version, struct err *err)
{
    if (store_execute(store,
                      "PRAGMA query_only = ON;"
                      "PRAGMA wal_autocheckpoint = 0",
                      err) < 0 ||
        check_file(store, version, err) < 0)
        return -1;
    if (*version == 0)
        return err_set(err, ERR_NOT_FOUND, "the store '%s' is empty",
                       store->path);
    return 0;
}

static int open_database(struct store *store, const char *name, int flags,
                         struct err *err)
{
    flags |= SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(name, &store->db, flags, NULL) != SQLITE_OK)
        return store_fail(store, err);
    sqlite3_extended_result_codes(store->db, 1);
    if (old_functions_add(store->db, sqlite3_libversion_number()) != SQLITE_OK)
        return store_fail(store, err);
    sqlite3_busy_timeout(store->db, store->is_without_log ? READERS_TIMEOUT_MS
                                                          : BUSY_TIMEOUT_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return store_execute(store,
                         "PRAGMA trusted_schema = OFF;"
                         "PRAGMA cell_size_check = ON;"
                         "PRAGMA mmap_size = 0",
                         err);
}

static int open_writer(struct store *store, enum store_mode mode,
                       struct err *err)
{
    int create = mode == STORE_CREATE ? SQLITE_OPEN_CREATE : 0;
    int result;

    store->lock_fd = lock_open(store->directory, err);
    if (store->lock_fd < 0 || lock_take(store->lock_fd, LOCK_WAIT_MS, err) < 0)
        return err_prefix(err, "store '%s'", store->directory);
    result =
        create != 0 ? file_modes_create(store->directory, store->path, err) : 0;
    if (result == 0)
        result = open_database(store, store->path,
                               SQLITE_OPEN_READWRITE | create, err);
    /* SQLite opens a file that it may not write to all the same. */
    if (result == 0 && sqlite3_db_readonly(store->db, "main") == 1)
        result = err_set(err, ERR_FAILED, "store '%s': it is read-only",
                         store->path);
    if (result == 0)
        result = set_up_writer(store, err);
    lock_release(store->lock_fd);
    return result;
}

/* Whether the log beside the database holds nothing that is not in it. */
static bool log_is_empty(const struct store *store)
{
    char *log = mem_printf("%s-wal", store->path);
    struct stat status;
    bool empty =
        stat(log, &status) != 0 ? errno == ENOENT : status.st_size == 0;

    free(log);
    return empty;
}

/* "file:/a%20b?immutable=1" */
static char *immutable_uri(const char *path)
{
    struct buf uri = BUF_INIT;

    buf_add_string(&uri, "file:");
    for (; *path != '\0'; path++) {
        if (strchr("%?# ", *path) != NULL)
            buf_printf(&uri, "%%%02X", (unsigned)*path);
        else
            buf_add_char(&uri, *path);
    }
    buf_add_string(&uri, "?immutable=1");
    return buf_take(&uri);
}

/*
 * Even a reader keeps files beside a WAL database. Where it cannot make them
 * (a read-only medium, somebody else's folder) and there is no log, the file
 * alone will do.
 */
static int open_reader(struct store *store, int64_t *version, struct err *err)
{
    char *uri;
    int code, result;

    if (open_database(store, store->path, SQLITE_OPEN_READONLY, err) == 0 &&
        set_up_reader(store, version, err) == 0)
        return 0;
    code = sqlite3_errcode(store->db) & 0xff;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
        return -1;
    if (!log_is_empty(store))
        return err_set(err, ERR_FAILED,
                       "store '%s': its log smtune.db-wal can be read only "
                       "with write access to its directory",
                       store->path);
    sqlite3_close(store->db);
    uri = immutable_uri(store->path);
    result =
        open_database(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    free(uri);
    return result == 0 ? set_up_reader(store, version, err) : -1;
}

/* Queries know the newest tables alone: a writer makes them. */
static int bring_up_to_date(const struct migrations *migrations,
                            const char *directory, struct err *err)
{
    struct store *writer =
        store_open_by(migrations, directory, STORE_WRITE, err);

    store_close(writer);
    return writer != NULL ? 0
                          : err_prefix(err, "the store is of an older smtune");
}

/* A store of the same name in a folder above, where a project's may be, by an
 * absolute path; NULL: none. The caller's to free. */
static char *find_above(const char *directory)
{
    const char *name = strrchr(directory, '/');
    char *above = mem_copy_bytes(directory, (size_t)(name - directory));
    char *found = NULL;
    char *slash;

    while (found == NULL && (slash = strrchr(above, '/')) != NULL) {
        char *database;

        *slash = '\0';
        found = mem_printf("%s%s", above, name);
        database = fs_join(found, "smtune.db");
        if (!fs_exists(database)) {
            free(found);
            found = NULL;
        }
        free(database);
    }
    free(above);
    return found;
}

static void report_missing(const struct store *store, const char *directory,
                           int error, struct err *err)
{
    char *above;

    if (error != ENOENT && error != ENOTDIR) {
        err_set_errno(err, ERR_FAILED, error, "cannot open the store '%s'",
                      directory);
        return;
    }
    above = find_above(store->directory);
    err_set(err, ERR_NOT_FOUND, "there is no store at '%s'%s%s%s", directory,
            above != NULL ? " (there is one at '" : "",
            above != NULL ? above : "", above != NULL ? "')" : "");
    free(above);
}

/* name: of the database in the directory, or its absolute path. */
static struct store *create(const struct migrations *migrations,
                            const char *directory, const char *name)
{
    struct store *store = mem_zero(sizeof(*store));

    store->migrations = migrations;
    store->lock_fd = -1;
    store->directory = fs_absolute(directory);
    store->path = fs_join(store->directory, name);
    return store;
}

struct store *store_open_by(const struct migrations *migrations,
                            const char *directory, enum store_mode mode,
                            struct err *err)
{
    struct store *store = create(migrations, directory, "smtune.db");
    int64_t version = (int64_t)migrations->step_count;

    if (store_check_member(store->directory, err) < 0)
        goto fail;
    if (mode == STORE_CREATE && fs_make_directories(store->directory, err) < 0)
        goto fail;
    if (mode != STORE_CREATE && !fs_exists(store->path)) {
        report_missing(store, directory, errno, err);
        goto fail;
    }
    if (check_place(store, err) < 0)
        goto fail;
    if ((mode == STORE_READ ? open_reader(store, &version, err)
                            : open_writer(store, mode, err)) < 0)
        goto fail;
    if (version == newest_version(store))
        return store;
    store_close(store);
    return bring_up_to_date(migrations, directory, err) == 0
               ? store_open_by(migrations, directory, STORE_READ, err)
               : NULL;
fail:
    store_close(store);
    return NULL;
}

struct store *store_open(const char *directory, enum store_mode mode,
                         struct err *err)
{
    return store_open_by(&store_migrations, directory, mode, err);
}

struct store *store_open_copy(const char *directory, const char *path,
                              struct err *err)
{
    char *absolute = fs_absolute(path);
    struct store *store = create(&store_migrations, directory, absolute);
    int64_t version;

    free(absolute);
    if (open_reader(store, &version, err) == 0)
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    if (store->in_transaction)
        store_rollback(store);
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    for (size_t i = 0; i < store->kept_count; i++)
        sqlite3_finalize(store->kept[i].statement);
    if (store->lock_fd >= 0) {
        if (store->db != NULL && lock_take(store->lock_fd, 0, NULL) == 0) {
            sqlite3_busy_timeout(store->db, 0);
            sqlite3_wal_checkpoint_v2(store->db, NULL,
                                      SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
            lock_release(store->lock_fd);
        }
        close(store->lock_fd);
    }
    sqlite3_close(store->db);
    buf_clear(&store->scratch);
    free(store->directory);
    free(store->path);
    free(store);
}

int store_has_log(struct store *store, bool *has_log, struct err *err)
{
    sqlite3_stmt *statement =
        store_query(store, "PRAGMA journal_mode", NULL, 0, err);
    int row = statement != NULL ? store_step(store, statement, err) : -1;

    *has_log = row > 0 && strcmp(store_column_text(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    return row < 0 ? -1 : 0;
}

const char *store_sqlite_version(void)
{
    return sqlite3_libversion();
}

const char *store_directory(const struct store *store)
{
    return store->directory;
}

char *store_run_directory(const struct store *store, const char *run_name)
{
    return mem_printf("%s/runs/%s", store->directory, run_name);
}
