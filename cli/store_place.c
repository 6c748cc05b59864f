/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the store of the current folder, as git finds a repository: the folder
 * itself or the nearest one above it that has a .smtune. The search ends at the
 * root of the file system, so that it never waits for a mount above. Above the
 * current folder it passes over a .smtune of another user: a record has
 * commands that `resume` runs, and anybody may create /tmp/.smtune. `smtune
 * init` makes a .smtune without a store: that of the configuration goes first
 * there.
 */
#include "cli/store_place.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

#define FOLDER ".smtune"

/* Cuts the last name off an absolute path; false at the root. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL || path[1] == '\0')
        return false;
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

static bool has_own(const char *directory)
{
    char *path = fs_join(directory, FOLDER);
    struct stat info;
    bool is_own = stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
                  info.st_uid == geteuid();

    free(path);
    return is_own;
}

/* The nearest folder above the current one with a store; NULL: none. */
static char *find_above(void)
{
    char path[PATH_MAX];
    struct stat here, above;

    if (getcwd(path, sizeof(path)) == NULL || stat(path, &here) != 0)
        return NULL;
    while (go_up(path) && stat(path, &above) == 0 &&
           above.st_dev == here.st_dev) {
        if (has_own(path))
            return fs_join(path, FOLDER);
    }
    return NULL;
}

static bool has_database(const char *directory)
{
    char *path = fs_join(directory, "smtune.db");
    bool has = fs_exists(path);

    free(path);
    return has;
}

char *store_place_find(const char *configured)
{
    const char *named = getenv("SMTUNE_STORE");
    char *nearest = NULL;

    if (named != NULL && named[0] != '\0')
        return mem_copy_string(named);
    if (!fs_exists("./" FOLDER))
        nearest = find_above();
    if (nearest == NULL)
        nearest = mem_copy_string("./" FOLDER);
    if (configured != NULL && !has_database(nearest)) {
        free(nearest);
        nearest = mem_copy_string(configured);
    }
    return nearest;
}
