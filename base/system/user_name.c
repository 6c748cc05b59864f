/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/system/user_name.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

enum { ROOM_BYTES = 1 << 10, MOST_BYTES = 1 << 20 };

/* Returns errno; *name stays NULL where there is none. */
typedef int look_fn(id_t id, char *room, size_t size, char **name);

/* With more room until it is enough: the members of a group can be many. */
static char *find_name(id_t id, look_fn *look)
{
    char *name = NULL;
    int error = ERANGE;

    for (size_t size = ROOM_BYTES; error == ERANGE && size <= MOST_BYTES;
         size *= 2) {
        char *room = mem_alloc(size);

        error = look(id, room, size, &name);
        free(room);
    }
    return name != NULL ? name : mem_printf("%ju", (uintmax_t)id);
}

static int look_for_user(id_t user, char *room, size_t size, char **name)
{
    struct passwd entry, *found = NULL;
    int error = getpwuid_r(user, &entry, room, size, &found);

    if (found != NULL)
        *name = mem_copy_string(entry.pw_name);
    return error;
}

static int look_for_group(id_t group, char *room, size_t size, char **name)
{
    struct group entry, *found = NULL;
    int error = getgrgid_r(group, &entry, room, size, &found);

    if (found != NULL)
        *name = mem_copy_string(entry.gr_name);
    return error;
}

char *user_name(uid_t user)
{
    return find_name(user, look_for_user);
}

char *group_name(gid_t group)
{
    return find_name(group, look_for_group);
}

bool group_find(const char *name, gid_t *group)
{
    const struct group *entry = getgrnam(name);
    unsigned long number;
    char *end;

    if (entry != NULL) {
        *group = entry->gr_gid;
        return true;
    }
    if (name[0] < '0' || name[0] > '9')
        return false;
    errno = 0;
    number = strtoul(name, &end, 10);
    *group = (gid_t)number;
    return *end == '\0' && errno == 0 && number < UINT_MAX;
}

/* [*count], the effective one first. */
static gid_t *our_groups(size_t *count)
{
    int more = getgroups(0, NULL);
    gid_t *groups =
        mem_array((size_t)(more > 0 ? more : 0) + 1, sizeof(*groups));

    groups[0] = getegid();
    if (more > 0)
        more = getgroups(more, groups + 1);
    *count = 1 + (size_t)(more > 0 ? more : 0);
    return groups;
}

bool group_is_ours(gid_t group)
{
    size_t count;
    gid_t *groups = our_groups(&count);
    bool is_ours = false;

    for (size_t i = 0; i < count; i++)
        is_ours = is_ours || groups[i] == group;
    free(groups);
    return is_ours;
}

void group_add_ours(struct buf *out)
{
    size_t count;
    gid_t *groups = our_groups(&count);

    for (size_t i = 0; i < count; i++) {
        char *name =
            i == 0 || groups[i] != groups[0] ? group_name(groups[i]) : NULL;

        if (name != NULL)
            buf_printf(out, "%s%s", i > 0 ? ", " : "", name);
        free(name);
    }
    free(groups);
}
