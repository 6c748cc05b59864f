/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/folders.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

/* One that is not synced; or a file, whose parent it is itself. */
struct folder {
    struct folder *next;
    char *parent, *path;
};

struct folders {
    struct folder *first;
};

struct folders *folders_create(void)
{
    return mem_zero(sizeof(struct folders));
}

static void forget(struct folder **link)
{
    struct folder *folder = *link;

    *link = folder->next;
    free(folder->parent);
    free(folder->path);
    free(folder);
}

void folders_destroy(struct folders *folders)
{
    while (folders->first != NULL)
        forget(&folders->first);
    free(folders);
}

bool folders_last(const struct folders *folders, const char *path)
{
    const struct folder *folder = folders->first;

    while (folder != NULL && strcmp(folder->path, path) != 0)
        folder = folder->next;
    return folder == NULL;
}

static void lose(const struct folder *folder)
{
    if (strcmp(folder->parent, folder->path) != 0)
        fs_remove_tree(folder->path, NULL);
    else if (truncate(folder->path, 0) != 0 && errno != ENOENT)
        world_fail("cannot truncate '%s'", folder->path);
}

void folders_cut_power(struct folders *folders, struct rng *rng)
{
    while (folders->first != NULL) {
        if (rng_percent(rng, 50))
            lose(folders->first);
        forget(&folders->first);
    }
}

/* -- In place of the C library's ------------------------------------------*/

static void path_of(int fd, char path[PATH_MAX])
{
    char name[32];
    ssize_t length;

    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    length = readlink(name, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
}

static void follow(const char *parent, const char *path)
{
    struct folders *folders = world_get()->folders;
    struct folder *folder = mem_zero(sizeof(*folder));

    folder->parent = mem_copy_string(parent);
    folder->path = mem_copy_string(path);
    folder->next = folders->first;
    folders->first = folder;
}

/* The folders of trials have a slash in their name, and are not followed: what
 * is in them is the trials' own. */
int mkdirat(int fd, const char *name, mode_t mode)
{
    char parent[PATH_MAX], *path;
    int result;

    world_step();
    result = (int)syscall(SYS_mkdirat, fd, name, mode);
    if (result != 0 || strchr(name, '/') != NULL)
        return result;
    path_of(fd, parent);
    path = fs_join(parent, name);
    follow(parent, path);
    free(path);
    return 0;
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at,
                        size_t length, unsigned int flags)
{
    char path[PATH_MAX];
    ssize_t copied;

    world_step();
    copied =
        syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
    path_of(to, path);
    if (copied > 0)
        follow(path, path);
    return copied;
}

int fsync(int fd)
{
    const struct world *world = world_get();
    struct folder **link = &world->folders->first;
    char path[PATH_MAX];

    world_step();
    path_of(fd, path);
    while (*link != NULL && world->sabotage != SABOTAGE_LAZY_FOLDERS) {
        if (strcmp((*link)->parent, path) == 0)
            forget(link);
        else
            link = &(*link)->next;
    }
    return 0;
}
