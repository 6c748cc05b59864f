/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_SHARING_H
#define SMTUNE_STORE_SHARING_H

#include <stdbool.h>

#include "base/err.h"

/*
 * A store is its user's alone, or that of a group, which is a choice made when
 * it is made. The choice is the file smtune.shared in its folder, with the
 * group's name, and counts if the folder's owner or root made it: the modes of
 * a folder may come from elsewhere. Folders of a shared store have mode 2770
 * and its files 0660 (base/fs.h).
 */
#define SHARING_FILE "smtune.shared"

bool store_has_group(const char *directory);
/* The name of its group; NULL: it is not shared. The caller's to free. */
char *store_group(const char *directory);
/* Writes that file, in a folder that has the modes already. */
int store_record_group(const char *directory, const char *group,
                       struct err *err);

/* -1 with an error where a group shares the folder and this user is not in it;
 * 0 in any other case. */
int store_check_member(const char *directory, struct err *err);

/* Opens a file right in the folder, and makes it where it is missing, with the
 * modes of that store; -1 with errno. */
int store_open_file(const char *directory, const char *path, int flags);

/* Makes runs/NAME, and `runs` where it is missing. */
int store_make_run_directory(const char *directory, const char *run_name,
                             struct err *err);

#endif
