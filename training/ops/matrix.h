/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_MATRIX_H
#define SMTUNE_TRAINING_OPS_MATRIX_H

#include <stddef.h>

#include "base/err.h"
#include "training/util/real.h"

/* Numbers with their shape beside them; whose they are is said elsewhere. */
struct matrix {
    real *data; /* [rows][columns] */
    size_t rows, columns;
};

enum { REAL_ALIGN_BYTES = 64 };

/* `count` zeroed numbers at an address that suits SIMD, or NULL with
 * ERR_FAILED. Released with free(). */
real *real_array(size_t count, struct err *err);

/* Some rows of one. */
static inline struct matrix matrix_slice(struct matrix matrix, size_t first,
                                         size_t rows)
{
    return (struct matrix){matrix.data + first * matrix.columns, rows,
                           matrix.columns};
}

/* The first rows of one made for a full batch. */
static inline struct matrix matrix_rows(struct matrix matrix, size_t rows)
{
    matrix.rows = rows;
    return matrix;
}

#endif
