/* SPDX-License-Identifier: GPL-3.0-or-later */
/* $XDG_RUNTIME_DIR is not set in every batch job and container, and in some it
 * is a folder that was never made: /tmp is there always. Anybody may make
 * folders in /tmp, so that one is trusted only after a look at whose it is. */
#include "base/system/runtime_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 16 }; /* of "/NAME" and its NUL */

int private_folder(const char *path, struct err *err)
{
    struct stat status;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create '%s'",
                             path);
    if (lstat(path, &status) != 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot examine '%s'",
                             path);
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return err_set(err, ERR_FAILED,
                       "'%s' is not a private directory: it must belong to "
                       "you, with mode 0700",
                       path);
    return 0;
}

int runtime_folder(const char *name, char path[RUNTIME_FOLDER_MAX],
                   struct err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char parent[RUNTIME_FOLDER_MAX - NAME_ROOM];
    bool is_usable = runtime != NULL && runtime[0] == '/' &&
                     strlen(runtime) + sizeof("/smtune") <= sizeof(parent) &&
                     access(runtime, W_OK) == 0;

    if (is_usable)
        snprintf(parent, sizeof(parent), "%s/smtune", runtime);
    else
        snprintf(parent, sizeof(parent), "/tmp/smtune-%u",
                 (unsigned int)geteuid());
    if (private_folder(parent, err) != 0)
        return is_usable ? -1
                         : err_prefix(err, "XDG_RUNTIME_DIR is not set to a "
                                           "writable directory");
    snprintf(path, RUNTIME_FOLDER_MAX, "%s/%.*s", parent, NAME_ROOM - 2, name);
    return private_folder(path, err);
}
