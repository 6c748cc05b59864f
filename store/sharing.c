/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs in a store that a group shares. Only what is right in its folder
 * is made as the file of the choice has it. `runs` is that, too, and what is
 * made below it has the modes of the folder around it.
 */
#include "store/sharing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/system/user_name.h"

enum { FILE_MODE = 0600, FOLDER_MODE = 0700, NAME_MAX_BYTES = 256 };

/* Anybody who may write in the folder can make such a file, but the choice is
 * that of the folder's owner. */
bool store_has_group(const char *directory)
{
    char *path = fs_join(directory, SHARING_FILE);
    struct stat folder, status;
    bool is_shared = lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
                     stat(directory, &folder) == 0 &&
                     status.st_uid == folder.st_uid;

    free(path);
    return is_shared;
}

char *store_group(const char *directory)
{
    char *path = fs_join(directory, SHARING_FILE);
    struct buf text = BUF_INIT;
    bool is_shared = store_has_group(directory) &&
                     fs_read_regular(path, NAME_MAX_BYTES, &text, NULL) == 0;

    free(path);
    if (!is_shared) {
        buf_clear(&text);
        return NULL;
    }
    buf_truncate(&text, strcspn(buf_text(&text), "\n"));
    return buf_take(&text);
}

int store_check_member(const char *directory, struct err *err)
{
    struct stat status;
    char *group;

    if (stat(directory, &status) != 0 || !fs_is_shared(status.st_mode) ||
        access(directory, R_OK | W_OK | X_OK) == 0 || errno != EACCES)
        return 0;
    group = group_name(status.st_gid);
    err_set(err, ERR_FAILED,
            "store '%s' is for the group '%s', and you are not a member (if "
            "you became one, log in again)",
            directory, group);
    free(group);
    return -1;
}

int store_open_file(const char *directory, const char *path, int flags)
{
    return store_has_group(directory)
               ? fs_shared_open(path, flags, FILE_MODE)
               : open(path, flags | O_CREAT | O_CLOEXEC, FILE_MODE);
}

/* ---- folders ---- */

static int make_runs(const char *directory, struct err *err)
{
    char *path = fs_join(directory, "runs");
    int result = store_has_group(directory) ? fs_shared_mkdirat(AT_FDCWD, path)
                                            : mkdir(path, FOLDER_MODE);

    if (result != 0 && errno == EEXIST)
        result = 0;
    if (result != 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot make the directory '%s'",
                      path);
    free(path);
    return result;
}

int store_make_run_directory(const char *directory, const char *run_name,
                             struct err *err)
{
    char *path = mem_printf("%s/runs/%s", directory, run_name);
    int result = make_runs(directory, err);

    if (result == 0)
        result = fs_make_shared_directories(path, err);
    free(path);
    return result;
}
