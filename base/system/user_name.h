/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_USER_NAME_H
#define SMTUNE_BASE_SYSTEM_USER_NAME_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

/* Users and groups by name, for people. Of one that has no name on this
 * machine: its number. */

/* The caller's to free. */
char *user_name(uid_t user);
char *group_name(gid_t group);

/* The group of that name, or of that number in digits; false: there is none. */
bool group_find(const char *name, gid_t *group);
/* Whether this process has the rights of a group. */
bool group_is_ours(gid_t group);
/* Appends the names of its groups: "ml, users". */
void group_add_ours(struct buf *out);

#endif
