/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_COPY_H
#define SMTUNE_STORE_COPY_H

#include <sqlite3.h>

#include "base/err.h"

/*
 * A copy of a database as it is at one moment. It is made in one step of
 * SQLite's backup, which reads one state of it, so that nobody's writes can
 * make it begin again. It becomes one file without a log.
 */

/* Copies it into the file `path`, which is there. The connection to the copy,
 * which the caller closes; NULL with an error. */
sqlite3 *store_copy(sqlite3 *from, const char *path, struct err *err);
/* The same into a new file of the store in `directory`, with the modes of its
 * files. One that a kill has left at the path is replaced, so the caller holds
 * the writers' lock. */
sqlite3 *store_copy_new(sqlite3 *from, const char *directory, const char *path,
                        struct err *err);
/* 0 where the copy is sound. */
int store_copy_check(sqlite3 *copy, const char *path, struct err *err);
/* The error of that connection. Always -1. */
int store_copy_fail(sqlite3 *copy, const char *path, struct err *err);
/* 0 once a copy that is closed is on the disk. */
int store_copy_sync(const char *path, struct err *err);
/* The same, and gives it its name. Replaces a file. */
int store_copy_keep(const char *part, const char *path, struct err *err);

#endif
