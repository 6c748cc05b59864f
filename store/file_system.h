/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_FILE_SYSTEM_H
#define SMTUNE_STORE_FILE_SYSTEM_H

#include <stdbool.h>

/*
 * Where a file lies. SQLite's log is shared through memory that maps a file,
 * which machines that share a file system over a network do not share.
 */
struct file_system {
    char name[32]; /* "ext4", "NFS", "fuse.sshfs" */
    bool is_network;
};

/* That of a path that is there; -1 where it cannot be told. */
int file_system_find(const char *path, struct file_system *found);

#endif
