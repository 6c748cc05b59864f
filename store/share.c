/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making a store that a group shares. The folder gets its group and modes
 * first, then the file that records the choice, then the database: one that was
 * made only in part can be made again. What the file system does not keep shows
 * at once, and not when the second user comes.
 */
#include "store/share.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/system/user_name.h"
#include "base/text.h"
#include "store/sharing.h"
#include "store/store.h"

static int find_group(const char *name, gid_t *group, struct err *err)
{
    bool is_there = group_find(name, group);
    struct buf ours = BUF_INIT;

    if (is_there && (geteuid() == 0 || group_is_ours(*group)))
        return 0;
    group_add_ours(&ours);
    if (is_there)
        err_set(err, ERR_USAGE,
                "you are not a member of the group '%s' (your groups: %s; if "
                "you became a member, log in again)",
                name, buf_text(&ours));
    else
        err_set(err, ERR_USAGE, "there is no group '%s' (your groups: %s)",
                name, buf_text(&ours));
    buf_clear(&ours);
    return -1;
}

/* ---- the folder ---- */

/* Of an earlier try, or of `smtune init`. */
static bool may_be_there(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
           strcmp(name, "smtune.lock") == 0 ||
           strcmp(name, "experiment.schema.json") == 0 ||
           text_begins_with(name, SHARING_FILE);
}

/* The group gets all rights there: nobody's home, nor a folder of data. */
static int check_empty(const char *path, struct err *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int result = 0;

    if (folder == NULL)
        return err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", path);
    while (result == 0 && (entry = readdir(folder)) != NULL)
        if (!may_be_there(entry->d_name))
            result = err_set(err, ERR_BUSY,
                             "'%s' has other files, for example '%s': a shared "
                             "store needs a folder of its own (--store)",
                             path, entry->d_name);
    closedir(folder);
    return result;
}

static int check_owner(const char *path, struct err *err)
{
    struct stat status;
    char *owner;

    if (geteuid() == 0 || stat(path, &status) != 0 ||
        status.st_uid == geteuid())
        return 0;
    owner = user_name(status.st_uid);
    err_set(err, ERR_FAILED,
            "'%s' belongs to user '%s', and only its owner can share it (or "
            "use another folder: --store)",
            path, owner);
    free(owner);
    return -1;
}

/* Not those above it: they would be closed to the group. */
static int make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot make the directory '%s'", path);
    return check_owner(path, err) == 0 ? check_empty(path, err) : -1;
}

/* ---- modes ---- */

static bool has_modes(int fd, gid_t group)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_gid == group &&
           fs_is_shared(status.st_mode);
}

static int set_modes(const char *directory, const char *name, gid_t group,
                     struct err *err)
{
    enum { MODE = S_ISGID | S_IRWXU | S_IRWXG };
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = 0;

    if (fd < 0 || fchown(fd, (uid_t)-1, group) != 0 || fchmod(fd, MODE) != 0)
        result = err_set_errno(err, ERR_FAILED, errno,
                               "cannot give '%s' to the group '%s'", directory,
                               name);
    else if (!has_modes(fd, group))
        result = err_set(err, ERR_FAILED,
                         "the file system of '%s' does not store groups and "
                         "the setgid bit: use another folder (--store)",
                         directory);
    if (fd >= 0)
        close(fd);
    return result;
}

/* What a server makes of the owner and the group of a new file shows now: one
 * may give all files to the same user. */
static int check_new_file(const char *directory, gid_t group, struct err *err)
{
    char *path = fs_join(directory, SHARING_FILE);
    struct stat status;
    bool is_right = stat(path, &status) == 0 && status.st_gid == group &&
                    status.st_uid == geteuid() && store_has_group(directory);

    if (!is_right)
        unlink(path);
    free(path);
    return is_right ? 0
                    : err_set(err, ERR_FAILED,
                              "the file system of '%s' does not give new files "
                              "their user and the group of the folder: use "
                              "another folder (--store)",
                              directory);
}

static int record_choice(const char *directory, gid_t group, struct err *err)
{
    char *name = group_name(group);
    int result = store_record_group(directory, name, err);

    free(name);
    return result == 0 ? check_new_file(directory, group, err) : -1;
}

int store_share(const char *directory, const char *group, struct err *err)
{
    char *path = fs_absolute(directory);
    char *database = fs_join(path, "smtune.db");
    struct store *store = NULL;
    gid_t id;
    int result = find_group(group, &id, err);

    if (result == 0 && fs_exists(database))
        result = err_set(err, ERR_BUSY,
                         "there is a store at '%s': only a new one can be "
                         "shared (--store names another folder)",
                         path);
    if (result == 0 && make_folder(path, err) == 0 &&
        set_modes(path, group, id, err) == 0 &&
        record_choice(path, id, err) == 0)
        store = store_open(path, STORE_CREATE, err);
    result = store != NULL ? 0 : -1;
    store_close(store);
    free(database);
    free(path);
    return result;
}

/* ---- the folders above ---- */

/* By the modes alone: there may be access lists besides. */
static bool may_enter(const char *path, gid_t group)
{
    struct stat status;

    return stat(path, &status) != 0 || (status.st_mode & S_IXOTH) != 0 ||
           (status.st_gid == group && (status.st_mode & S_IXGRP) != 0);
}

char *store_find_barrier(const char *directory)
{
    char *path = fs_absolute(directory), *slash;
    struct stat status;

    if (stat(path, &status) == 0) {
        while ((slash = strrchr(path, '/')) != NULL && slash != path) {
            *slash = '\0';
            if (!may_enter(path, status.st_gid))
                return path;
        }
    }
    free(path);
    return NULL;
}
