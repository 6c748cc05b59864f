/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_TREE_H
#define SMTUNE_TRAINING_COMM_TREE_H

#include <stddef.h>

/*
 * The one order in which numbers of several ranks are added up (comm.h): those
 * of the first m, plus those of the others, m being the largest power of two
 * below their number.
 */

/* The m of n; n >= 2. */
int comm_tree_split(int n);

/* out[count] = the sum of n rows of count each; out may be one of the rows. */
void comm_tree_sum(float *out, const float *const *rows, int n, size_t count);

/* out[count] = left[count] + right[count]; out may be either. */
void comm_tree_add(float *out, const float *left, const float *right,
                   size_t count);

#endif
