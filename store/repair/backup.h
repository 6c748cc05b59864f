/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_BACKUP_H
#define SMTUNE_STORE_REPAIR_BACKUP_H

#include <stdbool.h>

#include "base/err.h"

struct buf;
struct store;

/* Appends texts of the record with their secrets masked. */
struct backup_mask {
    void (*file)(void *user, const char *text, const char *words,
                 struct buf *out);
    /* --set words, a JSON list, of the file with that text. */
    void (*words)(void *user, const char *text, const char *words,
                  struct buf *out);
    /* An event's detail, which has both, a JSON object. */
    void (*detail)(void *user, const char *detail, struct buf *out);
    void *user;
};

/*
 * Writes a copy of the database as it is at one moment to a file, which is one
 * file without a log, mode 0600, and there as a whole or not at all. Writers
 * go on meanwhile. Where the file is there already: ERR_BUSY, unless it may be
 * replaced. With `is_checked`, -1 when the copy is not sound. 0 when it is
 * there and on the disk.
 */
struct backup {
    const char *path;
    bool replaces;
    bool is_checked;
    const struct backup_mask *mask; /* NULL: it has secrets as they are */
};

int store_backup(struct store *store, const struct backup *backup,
                 struct err *err);

#endif
