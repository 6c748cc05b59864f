/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_UPGRADE_H
#define SMTUNE_STORE_UPGRADE_H

#include <stdint.h>

#include "base/err.h"

/*
 * A store of an older version of the tables gets the newest, and one of a newer
 * version is refused with the way out.
 */

struct store;

/* Brings a store, whose writers' lock the caller holds, from that version to
 * the newest one. One that has tables is copied first, to
 * smtune.db.version-VERSION-TIME beside it, and ERR_BUSY is for one of which a
 * run has an engine: that of an older smtune cannot use the new tables. On
 * error the store is as it was. */
int upgrade_store(struct store *store, int64_t version, struct err *err);

/* That the store has a version which this smtune does not support. Always -1.
 * The error names the smtune that it needs and the copy to go back to, where
 * there are any. */
int upgrade_refuse(struct store *store, int64_t version, struct err *err);

#endif
