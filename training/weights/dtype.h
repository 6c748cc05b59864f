/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_WEIGHTS_DTYPE_H
#define SMTUNE_TRAINING_WEIGHTS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

/* The types of numbers in files of weights, under the names of safetensors. */

/* X(name, bytes of a number) */
#define DTYPES(X)                                                              \
    X(BOOL, 1)                                                                 \
    X(U8, 1)                                                                   \
    X(I8, 1)                                                                   \
    X(F8_E5M2, 1)                                                              \
    X(F8_E4M3, 1)                                                              \
    X(I16, 2)                                                                  \
    X(U16, 2)                                                                  \
    X(F16, 2)                                                                  \
    X(BF16, 2)                                                                 \
    X(I32, 4)                                                                  \
    X(U32, 4)                                                                  \
    X(F32, 4)                                                                  \
    X(I64, 8)                                                                  \
    X(U64, 8)                                                                  \
    X(F64, 8)

enum dtype {
#define X(name, bytes) DTYPE_##name,
    DTYPES(X)
#undef X
        DTYPE_COUNT
};

const char *dtype_name(enum dtype dtype);
size_t dtype_bytes(enum dtype dtype); /* of a number */
/* DTYPE_COUNT: there is none of that name. */
enum dtype dtype_find(const char *name);

/* Whether the functions below take it: F32, F16 and BF16. */
bool dtype_is_float(enum dtype dtype);
/* Little-endian bytes to numbers, exactly. */
void dtype_decode(enum dtype dtype, const void *from, size_t count, float *to);
/* And back, to the nearest number, of two the even one; what is too large for
 * the type becomes infinite. */
void dtype_encode(enum dtype dtype, const float *from, size_t count, void *to);

#endif
