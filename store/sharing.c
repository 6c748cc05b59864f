/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs in a store that a group shares. Only what is right in its folder
 * is made as the file of the choice has it. `runs` is that, too, and what is
 * made below the folder of a run has the modes of the folder around it.
 *
 * A folder of a project often has the modes of a shared one, and each of its
 * group can make files there and rename those of others. So neither modes nor a
 * name share a store: the file has to be of the folder's owner or of root, and
 * to begin with a line that no other file has.
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
#include "base/text.h"

enum {
    FILE_MODE = 0600,
    FOLDER_MODE = 0700,
    CHOICE_MODE = 0640,
    CHOICE_MAX_BYTES = 512
};

static const char first_line[] = "# A group shares this store.\n";

static bool is_choice_of_owner(const char *directory, const char *path)
{
    struct stat folder, status;

    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           stat(directory, &folder) == 0 &&
           (status.st_uid == folder.st_uid || status.st_uid == 0);
}

char *store_group(const char *directory)
{
    char *path = fs_join(directory, SHARING_FILE), *group = NULL;
    struct buf text = BUF_INIT;

    if (is_choice_of_owner(directory, path) &&
        fs_read_regular(path, CHOICE_MAX_BYTES, &text, NULL) == 0 &&
        text_begins_with(buf_text(&text), first_line)) {
        const char *name = buf_text(&text) + strlen(first_line);

        group = mem_copy_bytes(name, strcspn(name, "\n"));
    }
    buf_clear(&text);
    free(path);
    return group;
}

bool store_has_group(const char *directory)
{
    char *group = store_group(directory);
    bool is_shared = group != NULL;

    free(group);
    return is_shared;
}

int store_record_group(const char *directory, const char *group,
                       struct err *err)
{
    char *path = fs_join(directory, SHARING_FILE);
    char *text = mem_printf("%s%s\n", first_line, group);
    int result = fs_write_atomic(path, text, strlen(text), CHOICE_MODE, err);

    free(text);
    free(path);
    return result;
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

static int make_folder(const char *path, bool has_group, struct err *err)
{
    int result = has_group ? fs_shared_mkdir(path) : mkdir(path, FOLDER_MODE);

    return result == 0 || errno == EEXIST
               ? 0
               : err_set_errno(err, ERR_FAILED, errno,
                               "cannot make the directory '%s'", path);
}

int store_make_run_directory(const char *directory, const char *run_name,
                             struct err *err)
{
    char *runs = fs_join(directory, "runs"), *path = fs_join(runs, run_name);
    bool has_group = store_has_group(directory);
    int result = make_folder(runs, has_group, err);

    if (result == 0)
        result = make_folder(path, has_group, err);
    free(path);
    free(runs);
    return result;
}
