/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_H
#define SMTUNE_STORE_REPAIR_H

#include <stdint.h>

#include "base/err.h"

/* Mending what is wrong with the database as such (check.h). All need an open
 * transaction. */

struct store;

/* Removes rows that belong to nothing; *count is how many. */
int store_remove_orphans(struct store *store, int64_t *count, struct err *err);

/* The runs that events tell of and that have no row. */
int store_each_lost_run(struct store *store,
                        int (*row)(void *user, int64_t run), void *user,
                        struct err *err);

#endif
