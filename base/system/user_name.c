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

char *user_name(uid_t user)
{
    const struct passwd *entry = getpwuid(user);

    return entry != NULL ? mem_copy_string(entry->pw_name)
                         : mem_printf("%ju", (uintmax_t)user);
}

char *group_name(gid_t group)
{
    const struct group *entry = getgrgid(group);

    return entry != NULL ? mem_copy_string(entry->gr_name)
                         : mem_printf("%ju", (uintmax_t)group);
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
