/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * With a log, the reader that makes the copy (store/copy.h) is in no writer's
 * way. A store without a log (store.c) is copied under the writers' lock,
 * because there a reader would be.
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
#include "store/copy.h"
#include "store/lock.h"
#include "store/repair/backup_mask.h"
#include "store/store_impl.h"

/* into: an empty file for a copy without secrets; NULL: there is none. */
static int write_copy(struct store *store, const struct backup *backup,
                      const char *part, const char *into, struct err *err)
{
    sqlite3 *to = store_copy(store->db, part, err);
    int result = to != NULL ? 0 : -1;

    if (result == 0 && backup->is_checked &&
        store_copy_check(to, part, err) != 0)
        result = err_prefix(err, "check the store with 'smtune fsck'");
    if (result == 0 && into != NULL)
        result = backup_mask_apply(to, backup->mask, into, err);
    sqlite3_close(to);
    return result;
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
        result = store_copy_keep(part, backup->path, err);
    if (fd >= 0) {
        unlink(part);
        close(fd);
    }
    if (lock >= 0)
        close(lock);
    free(part);
    return result;
}
