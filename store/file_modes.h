/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_FILE_MODES_H
#define SMTUNE_STORE_FILE_MODES_H

#include "base/err.h"

/*
 * Who may read the record: its user alone (mode 0600), whatever the mode of the
 * folder and the umask are. SQLite gives the files beside the database the mode
 * of the database. The mode of an existing file is its user's matter, and never
 * changed.
 */

/* Makes the file `path`, empty, where there is none. 0, or -1. */
int file_modes_create(const char *path, struct err *err);

/* Is given the path and the mode of a file that others may use. */
typedef void file_modes_fn(void *user, const char *path, unsigned mode);

/* Calls it for each such file of the database in a store's directory. */
void file_modes_check(const char *directory, file_modes_fn *call, void *user);

#endif
