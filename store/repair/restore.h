/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_RESTORE_H
#define SMTUNE_STORE_REPAIR_RESTORE_H

#include <stdbool.h>

#include "base/err.h"

/* A store goes back to a copy of its database. */
struct restore {
    const char *directory; /* of the store, which is made where it is missing */
    const char *file;      /* the copy, which stays */
    const char *kept;      /* the new name of the database that is there */
};

/*
 * The database before need not be one that this smtune supports, or a sound
 * one; *has_kept is whether there was any. ERR_BUSY where a run has an engine.
 * -1 where the file is damaged, no store, or of a newer smtune, and on other
 * errors: then the store is as it was.
 */
int store_restore(const struct restore *restore, bool *has_kept,
                  struct err *err);

#endif
