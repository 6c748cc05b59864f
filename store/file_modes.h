/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_FILE_MODES_H
#define SMTUNE_STORE_FILE_MODES_H

#include "base/err.h"

/*
 * Who may read the record: its user alone (mode 0600), whatever the mode of the
 * folder and the umask are, or its group (0660) where the store is shared.
 * SQLite gives the files beside the database the mode of the database. The mode
 * of an existing file is its user's matter, and never changed.
 */

/* Makes the file `path`, empty, where there is none, in a store's directory. 0,
 * or -1. */
int file_modes_create(const char *directory, const char *path, struct err *err);

/* A file or a folder with another mode, group or owner than it should have. */
struct file_modes_fault {
    const char *path;
    unsigned mode;
    const char *problem; /* before the path: "others may use" */
    const char *fix;     /* a command */
};

typedef void file_modes_fn(void *user, const struct file_modes_fault *fault);

/* Calls it for each file of the database in a store's directory, and for the
 * folders of one that is shared. */
void file_modes_check(const char *directory, file_modes_fn *call, void *user);

#endif
