/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_COLUMNS_TALLY_H
#define SMTUNE_DASHBOARD_COLUMNS_TALLY_H

#include <stdint.h>

#include "base/err.h"

struct run_row;
struct store;
struct tally;

/* How many of a run's jobs are in which state, kept up to date by those that
 * have changed: counting 100,000 anew takes some 30 ms. */
struct tally *tally_create(void);
void tally_destroy(struct tally *tally); /* NULL is allowed */

/* Up to the event `seq`, the run's last one. */
int tally_update(struct tally *tally, struct store *store, int64_t run,
                 int64_t seq, struct err *err);
/* Fills the counts of a row that was read without them (but for nonfinite). */
void tally_fill(const struct tally *tally, struct run_row *row);

#endif
