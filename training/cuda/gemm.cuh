/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_GEMM_CUH
#define SMTUNE_TRAINING_CUDA_GEMM_CUH

#include "training/cuda/operand.cuh"

/* What is fused behind a product. */
enum gemm_end {
    GEMM_PLAIN,
    GEMM_ADD_BIAS,  /* d += bias[1][columns of d] */
    GEMM_SUM_LEFT_T /* bias[1][rows of d] = the sum of a's rows; a^T b alone,
                       and of float */
};

/* d = a b, of a and b rounded to that type, and as they are or transposed, all
 * in rows; or d += a b. */
struct gemm {
    const char *operation;
    cudaDataType_t type;
    struct operand a, b;
    struct matrix d;
    bool transposes_a, transposes_b, adds;
    enum gemm_end end;
    float *bias;
};

/* Once. -1 with ERR_FAILED where cuBLASLt cannot be used. */
int gemm_start(struct err *err);

void gemm(const struct gemm *product);

#endif
