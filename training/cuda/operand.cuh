/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_OPERAND_CUH
#define SMTUNE_TRAINING_CUDA_OPERAND_CUH

#include <cuda_bf16.h>
#include <library_types.h>

#include "training/cuda/device.cuh"

typedef __nv_bfloat16 bf16;

/* What a product multiplies; its sums, and what it comes to, are float. */
struct operand {
    const void *data; /* [rows][stride], of which columns count */
    size_t rows, columns, stride;
    cudaDataType_t type;
};

template <typename Number> constexpr cudaDataType_t type_of = CUDA_R_32F;
template <> inline constexpr cudaDataType_t type_of<bf16> = CUDA_R_16BF;

/* Rows of bf16 begin where tensor cores want them to. */
static constexpr size_t ROW_NUMBERS = 16 / sizeof(bf16);

static inline size_t bf16_stride(size_t columns)
{
    return (columns + ROW_NUMBERS - 1) / ROW_NUMBERS * ROW_NUMBERS;
}

static inline struct operand operand_of(struct matrix x)
{
    return {x.data, x.rows, x.columns, x.columns, CUDA_R_32F};
}

/* x as a product multiplies it, until it is released: as it is, or rounded to
 * the nearest number of that type, in memory that the stream's order frees. */
struct operand operand_take(const char *operation, struct operand x,
                            cudaDataType_t type);
void operand_release(const char *operation, const struct operand *x,
                     const struct operand *taken);

#endif
