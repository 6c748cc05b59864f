/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_REAL_H
#define SMTUNE_TRAINING_UTIL_REAL_H

#include <cblas.h>
#include <math.h>

/*
 * The number that models compute with: float; double where SMTRAIN_DOUBLE is
 * defined, in which the tests compile the operations and models once more to
 * check their gradients.
 */

#ifdef SMTRAIN_DOUBLE
typedef double real;
#define real_gemm cblas_dgemm
#define real_sqrt sqrt
#else
typedef float real;
#define real_gemm cblas_sgemm
#define real_sqrt sqrtf
#endif

#endif
