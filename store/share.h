/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_SHARE_H
#define SMTUNE_STORE_SHARE_H

#include "base/err.h"

/* Makes an empty store that a group shares, in a new folder, whose parent is
 * there, or in an empty one of this user. ERR_BUSY where there is a store or
 * another file, ERR_USAGE for a group that this user is not in. */
int store_share(const char *directory, const char *group, struct err *err);

/* The lowest folder above a shared store that its group cannot enter, by its
 * mode; NULL: there is none. The caller's to free. */
char *store_find_barrier(const char *directory);

#endif
