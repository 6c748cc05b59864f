/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/file_modes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/system/user_name.h"
#include "store/sharing.h"

enum {
    OWN = 0600,
    OF_GROUP = 0660,
    FOLDER_OF_GROUP = 02770,
    OF_OTHERS = 007,
    OF_ALL_OTHERS = 077,
    ALL = 07777
};

int file_modes_create(const char *directory, const char *path, struct err *err)
{
    int fd = store_open_file(directory, path, O_RDWR | O_EXCL);

    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create '%s'",
                             path);
    /* The umask may take more away. Some disks have no modes. */
    if (!store_has_group(directory))
        fchmod(fd, OWN);
    close(fd);
    return 0;
}

struct checking {
    char *group; /* NULL: the store is not shared */
    gid_t group_id;
    bool has_group_id;
    file_modes_fn *call;
    void *user;
};

static void report(const struct checking *checking,
                   struct file_modes_fault *fault, const char *command)
{
    struct buf fix = BUF_INIT;

    buf_printf(&fix, "%s ", command);
    shell_add_word(fault->path, &fix);
    fault->fix = buf_text(&fix);
    checking->call(checking->user, fault);
    buf_clear(&fix);
}

static void check_own(const struct checking *checking,
                      struct file_modes_fault *fault)
{
    if ((fault->mode & OF_ALL_OTHERS) == 0)
        return;
    fault->problem = "others may use";
    report(checking, fault, "chmod 600");
}

static void check_shared(const struct checking *checking,
                         struct file_modes_fault *fault,
                         const struct stat *status)
{
    bool is_folder = S_ISDIR(status->st_mode);
    unsigned wanted = is_folder ? FOLDER_OF_GROUP : OF_GROUP;

    if (checking->has_group_id && status->st_gid != checking->group_id) {
        struct buf command = BUF_INIT;

        buf_add_string(&command, "chgrp ");
        shell_add_word(checking->group, &command);
        fault->problem = "another group has";
        report(checking, fault, buf_text(&command));
        buf_clear(&command);
    }
    if ((fault->mode & wanted) != wanted)
        fault->problem = "the group cannot use";
    else if ((fault->mode & OF_OTHERS) != 0)
        fault->problem = "others may use";
    else
        return;
    report(checking, fault, is_folder ? "chmod 2770" : "chmod 660");
}

static void check_path(const struct checking *checking, char *path)
{
    struct file_modes_fault fault = {.path = path};
    struct stat status;

    if (stat(path, &status) == 0) {
        fault.mode = (unsigned)status.st_mode & ALL;
        if (checking->group != NULL)
            check_shared(checking, &fault, &status);
        else
            check_own(checking, &fault);
    }
    free(path);
}

/* A file of the choice that does not count: made by another user, or no such
 * file at all. Only the folder's owner can tell whether it is to be shared. */
static void check_choice(const struct checking *checking, const char *directory)
{
    char *path = fs_join(directory, SHARING_FILE);
    struct file_modes_fault fault = {.path = path, .problem = "smtune ignores"};
    struct stat status, folder;

    if (lstat(path, &status) == 0 && stat(directory, &folder) == 0) {
        struct buf command = BUF_INIT;

        if (status.st_uid != folder.st_uid) {
            char *owner = user_name(folder.st_uid);

            buf_printf(&command, "chown %s ", owner);
            shell_add_word(path, &command);
            buf_add_string(&command, " to share the store, or ");
            free(owner);
        }
        buf_add_string(&command, "rm");
        fault.mode = (unsigned)status.st_mode & ALL;
        report(checking, &fault, buf_text(&command));
        buf_clear(&command);
    }
    free(path);
}

void file_modes_check(const char *directory, file_modes_fn *call, void *user)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    struct checking checking = {
        .group = store_group(directory), .call = call, .user = user};

    if (checking.group != NULL) {
        checking.has_group_id = group_find(checking.group, &checking.group_id);
        check_path(&checking, mem_copy_string(directory));
        check_path(&checking, fs_join(directory, "runs"));
        check_path(&checking, fs_join(directory, "smtune.lock"));
    } else {
        check_choice(&checking, directory);
    }
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        check_path(&checking,
                   mem_printf("%s/smtune.db%s", directory, endings[i]));
    free(checking.group);
}
