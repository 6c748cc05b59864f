/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_DISK_IMPL_H
#define SMTUNE_TESTS_FAULT_SIM_DISK_IMPL_H

#include <stddef.h>

#include "tests/fault/sim/disk.h"

/* What disk.c and vfs.c, SQLite's way to it, share. */

struct image {
    unsigned char *bytes;
    size_t size, capacity;
};

/* A change that is not synced. */
struct change {
    size_t offset, length;
    unsigned char *bytes; /* NULL: cut to `offset` bytes */
};

struct shared { /* what connections share beside the file: the WAL's index */
    void **regions;
    int count, users;
};

struct file {
    struct file *next;
    char *name;
    struct image seen, synced;
    struct change *changes;
    size_t change_count, change_capacity;
    bool is_synced; /* it is known to be on the platter */
    bool is_deleted;
    bool is_gone; /* and that is known to be on the platter */
    struct shared shared;
};

struct disk {
    struct file *files;
    int64_t full_from_ms, full_until_ms;
    int64_t fails_in;  /* writes and syncs until one fails; 0: none will */
    int64_t denied_in; /* likewise rows */
};

/* NULL: there is none. */
struct file *disk_find(const struct disk *disk, const char *name);
/* In the place of one of that name that was deleted. */
struct file *disk_add(struct disk *disk, const char *name);
/* Whether files cannot grow now. */
bool disk_is_full(const struct disk *disk);
/* Asked once for each write or sync: whether it fails. */
bool disk_fails(struct disk *disk);
/* Likewise for each row that is asked for; the checks get all of theirs. */
bool disk_denies(struct disk *disk);

/* Makes a change, and notes it for the next sync; takes its bytes over. */
void file_change(struct file *file, const struct change *change);
void file_sync(struct file *file);
void file_forget_shared(struct file *file);
void file_destroy(struct file *file);

#endif
