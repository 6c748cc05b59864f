/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The copy is made in one step of SQLite's backup: it reads one state of the
 * store, so that nobody's writes can make it begin again, and in a log's time
 * no reader is in a writer's way. A store without a log (store.c) is copied
 * under the writers' lock, because there a reader would be.
 */
#include "store/repair/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store/lock.h"
#include "store/repair/backup_mask.h"
#include "store/store_impl.h"

static int fail(sqlite3 *db, const char *path, struct err *err)
{
    if (sqlite3_errcode(db) == SQLITE_FULL)
        return err_set(err, ERR_SHORTAGE, "cannot write '%s': the disk is full",
                       path);
    return err_set(err, ERR_FAILED, "cannot write '%s': %s", path,
                   sqlite3_errmsg(db));
}

static int copy_pages(sqlite3 *from, sqlite3 *to, const char *path,
                      struct err *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (backup != NULL)
        sqlite3_backup_step(backup, -1);
    if (backup == NULL || sqlite3_backup_finish(backup) != SQLITE_OK)
        return fail(to, path, err);
    return 0;
}

/* Without a log from now on: it is one file. */
static int make_single(sqlite3 *db, const char *path, struct err *err)
{
    if (sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) !=
        SQLITE_OK)
        return fail(db, path, err);
    return 0;
}

static int check(sqlite3 *db, const char *path, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    const char *text = "";
    int result = 0;

    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &statement,
                           NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        result = fail(db, path, err);
    else
        text = store_column_text(statement, 0);
    if (result == 0 && strcmp(text, "ok") != 0)
        result = err_set(
            err, ERR_FAILED,
            "the database is damaged ('smtune fsck' shows all errors): %s",
            text);
    sqlite3_finalize(statement);
    return result;
}

/* into: an empty file for a copy without secrets; NULL: there is none. */
static int write_copy(struct store *store, const struct backup *backup,
                      const char *part, const char *into, struct err *err)
{
    sqlite3 *to = NULL;
    int result = -1;

    if (sqlite3_open_v2(part, &to, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        fail(to, part, err);
    else
        result = copy_pages(store->db, to, part, err);
    if (result == 0)
        result = make_single(to, part, err);
    if (result == 0 && backup->is_checked)
        result = check(to, part, err);
    if (result == 0 && into != NULL)
        result = backup_mask_apply(to, backup->mask, into, err);
    sqlite3_close(to);
    return result;
}

/* Makes the file `part` the backup, for good. */
static int put_in_place(const struct backup *backup, const char *part, int fd,
                        struct err *err)
{
    if (fsync(fd) != 0 || rename(part, backup->path) != 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'",
                             backup->path);
    fs_sync_directory_of(backup->path);
    return 0;
}

/* A store without a log: nobody writes meanwhile. *fd is the lock, or -1, also
 * where it lies where nobody can write. */
static int keep_writers_out(struct store *store, int *fd, struct err *err)
{
    bool has_log;

    *fd = -1;
    if (store_has_log(store, &has_log, err) < 0)
        return -1;
    if (!has_log && !store->in_transaction)
        *fd = lock_open(store->directory, NULL);
    if (*fd < 0 || lock_take(*fd, LOCK_WAIT_MS, err) == 0)
        return 0;
    return err_prefix(err, "store '%s'", store->directory);
}

static bool is_the_store(const struct store *store, const char *path)
{
    struct stat ours, theirs;

    return stat(store->path, &ours) == 0 && stat(path, &theirs) == 0 &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static int make_file(const struct backup *backup, char **part, struct err *err)
{
    int fd;

    *part = mem_printf("%s.XXXXXX", backup->path);
    fd = mkostemp(*part, O_CLOEXEC);
    return fd >= 0 ? fd
                   : err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'",
                                   backup->path);
}

/* With secrets, and from that file another one without. */
static int write_masked(struct store *store, const struct backup *backup,
                        const char *part, struct err *err)
{
    char *whole;
    int fd = make_file(backup, &whole, err), result = -1;

    if (fd >= 0) {
        result = write_copy(store, backup, whole, part, err);
        unlink(whole);
        close(fd);
    }
    free(whole);
    return result;
}

int store_backup(struct store *store, const struct backup *backup,
                 struct err *err)
{
    char *part = NULL;
    int lock = -1, fd, result = -1;

    if (is_the_store(store, backup->path))
        return err_set(err, ERR_USAGE, "'%s' is the database itself",
                       backup->path);
    if (!backup->replaces && fs_exists(backup->path))
        return err_set(err, ERR_BUSY, "file exists: '%s'", backup->path);
    fd = make_file(backup, &part, err);
    if (fd >= 0 && keep_writers_out(store, &lock, err) == 0)
        result = backup->mask != NULL
                     ? write_masked(store, backup, part, err)
                     : write_copy(store, backup, part, NULL, err);
    if (result == 0)
        result = put_in_place(backup, part, fd, err);
    if (fd >= 0) {
        unlink(part);
        close(fd);
    }
    if (lock >= 0)
        close(lock);
    free(part);
    return result;
}
