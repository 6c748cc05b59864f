/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_SHARES_H
#define SMTUNE_TRAINING_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * How samples are spread over ranks. They are always cut into the same number
 * of shares, however many ranks there are; each computes as many, one after
 * the other, and what comes of them is added up along the tree of comm.h. So
 * numbers do not change with the number of ranks.
 *
 * A rank has consecutive ones, a branch of the tree, where only their sum goes
 * to the others. Where each share does, ranks take turns, so that what they
 * compute at a time is a branch.
 */
struct shares {
    int count;
    int own, ranks; /* of each rank; how many there are */
    bool in_turns;
};

enum { SHARES_MAX = 65536 };

/* ERR_USAGE where so many ranks cannot keep to the tree: names the numbers of
 * ranks that can. */
int shares_init(struct shares *shares, int count, int ranks, bool in_turns,
                struct err *err);

/* The one that a rank computes as its i-th, 0 .. own - 1; and the other way
 * round: rank * own + i. */
int shares_of(const struct shares *shares, int rank, int i);
int shares_place(const struct shares *shares, int share);

/* Of `total` samples in order, where a share begins; that of shares->count is
 * the end. Shares may be empty. */
size_t shares_begin(const struct shares *shares, int share, size_t total);

/* Of the largest one. */
size_t shares_most(const struct shares *shares, size_t total);

#endif
