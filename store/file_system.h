/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_FILE_SYSTEM_H
#define SMTUNE_STORE_FILE_SYSTEM_H

#include <stddef.h>

/*
 * Where a file lies. SQLite's log is shared through memory that maps a file,
 * which machines that share a file system over a network do not share.
 */

/* "NFS" and the like, copied to name[size]; 0 where the path lies on a file
 * system of this machine's own, or it cannot be told. */
int file_system_is_network(const char *path, char *name, size_t size);

#endif
