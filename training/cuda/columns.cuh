/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_COLUMNS_CUH
#define SMTUNE_TRAINING_CUDA_COLUMNS_CUH

#include "training/cuda/device.cuh"

/* sums [1][columns] = the sum of x's rows. */
void sum_columns(const char *operation, struct matrix x, struct matrix sums);

/* The same of dy, and of dy times what layernorm made of norm->sum before gain
 * and bias. */
void sum_norm_columns(const char *operation, const struct layernorm *norm,
                      struct matrix dy, const struct layernorm_grads *sums);

#endif
