/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_SHARES_H
#define SMTUNE_TRAINING_SHARES_H

#include <stddef.h>

#include "base/err.h"
#include "training/ranks.h"

/*
 * How samples are spread over ranks. They are always cut into the same number
 * of shares, however many ranks there are; each computes as many, one after
 * the other, and what comes of them is added up along the tree of comm.h. So
 * numbers do not change with the number of ranks.
 */
struct shares {
    int count;
    int first, own; /* this rank's: first .. first + own - 1 */
};

enum { SHARES_MAX = 65536 };

/* ERR_USAGE where so many ranks cannot keep to the tree: names the numbers of
 * ranks that can. */
int shares_init(struct shares *shares, int count, const struct ranks *ranks,
                struct err *err);

/* Of `total` samples in order, where a share begins; that of shares->count is
 * the end. Shares may be empty. */
size_t shares_begin(const struct shares *shares, int share, size_t total);

/* Of the largest one. */
size_t shares_most(const struct shares *shares, size_t total);

#endif
