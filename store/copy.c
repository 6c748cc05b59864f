/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "store/file_modes.h"
#include "store/statements.h"

int store_copy_fail(sqlite3 *copy, const char *path, struct err *err)
{
    if (sqlite3_errcode(copy) == SQLITE_FULL)
        return err_set(err, ERR_SHORTAGE, "cannot write '%s': the disk is full",
                       path);
    return err_set(err, ERR_FAILED, "cannot write '%s': %s", path,
                   sqlite3_errmsg(copy));
}

static bool copy_pages(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (backup == NULL)
        return false;
    sqlite3_backup_step(backup, -1);
    return sqlite3_backup_finish(backup) == SQLITE_OK;
}

/* Without a log from then on: it is one file. */
static bool make_single(sqlite3 *db)
{
    return sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) ==
           SQLITE_OK;
}

sqlite3 *store_copy(sqlite3 *from, const char *path, struct err *err)
{
    sqlite3 *to = NULL;

    if (sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        copy_pages(from, to) && make_single(to))
        return to;
    store_copy_fail(to, path, err);
    sqlite3_close(to);
    return NULL;
}

sqlite3 *store_copy_new(sqlite3 *from, const char *directory, const char *path,
                        struct err *err)
{
    unlink(path);
    return file_modes_create(directory, path, err) == 0
               ? store_copy(from, path, err)
               : NULL;
}

int store_copy_check(sqlite3 *copy, const char *path, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    const char *text = "";
    int result = 0;

    if (sqlite3_prepare_v2(copy, "PRAGMA integrity_check(1)", -1, &statement,
                           NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        result = store_copy_fail(copy, path, err);
    else
        text = store_column_text(statement, 0);
    if (result == 0 && strcmp(text, "ok") != 0)
        result = err_set(err, ERR_FAILED, "the database is damaged: %s", text);
    sqlite3_finalize(statement);
    return result;
}

int store_copy_sync(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int result = fd >= 0 && fsync(fd) == 0 ? 0 : -1;

    if (result != 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
    if (fd >= 0)
        close(fd);
    return result;
}

int store_copy_keep(const char *part, const char *path, struct err *err)
{
    if (store_copy_sync(part, err) != 0)
        return -1;
    if (rename(part, path) != 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
    fs_sync_directory_of(path);
    return 0;
}
