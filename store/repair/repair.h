/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_REPAIR_H
#define SMTUNE_STORE_REPAIR_REPAIR_H

#include <stdint.h>

#include "base/err.h"

/* Mending what is wrong with the database as such (check.h). All need an open
 * transaction, and return 0, or -1 with err. */

struct store;

/* Removes rows that belong to nothing; *count is how many. */
int store_remove_orphans(struct store *store, int64_t *count, struct err *err);

/* The runs that events tell of and that have no row; a callback's result other
 * than 0 ends the reading, and is returned. */
int store_each_lost_run(struct store *store,
                        int (*row)(void *user, int64_t run), void *user,
                        struct err *err);

#endif
