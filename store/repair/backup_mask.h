/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_BACKUP_MASK_H
#define SMTUNE_STORE_REPAIR_BACKUP_MASK_H

#include <sqlite3.h>

#include "base/err.h"

struct backup_mask;

/* Masks the secrets in a copy of a store, which nobody else has open, and
 * writes it to `into`, an empty file, without what it had before. 0, or -1. */
int backup_mask_apply(sqlite3 *db, const struct backup_mask *mask,
                      const char *into, struct err *err);

#endif
