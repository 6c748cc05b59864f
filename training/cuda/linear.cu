/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/gemm.cuh"
#include "training/cuda/ops_cuda.cuh"

void cuda_linear(struct matrix x, struct matrix w, struct matrix bias,
                 struct matrix y)
{
    const struct gemm product = {.operation = "linear",
                                 .a = x,
                                 .b = w,
                                 .d = y,
                                 .transposes_a = false,
                                 .transposes_b = true,
                                 .adds = false,
                                 .end = bias.data != NULL ? GEMM_ADD_BIAS
                                                          : GEMM_PLAIN,
                                 .bias = bias.data};

    gemm(&product);
}

void cuda_linear_grad_params(struct matrix x, struct matrix dy,
                             struct matrix dw, struct matrix dbias)
{
    const struct gemm product = {.operation = "linear_grad_params",
                                 .a = dy,
                                 .b = x,
                                 .d = dw,
                                 .transposes_a = true,
                                 .transposes_b = false,
                                 .adds = false,
                                 .end = dbias.data != NULL ? GEMM_SUM_LEFT_T
                                                           : GEMM_PLAIN,
                                 .bias = dbias.data};

    gemm(&product);
}

void cuda_linear_grad_input(struct matrix dy, struct matrix w, struct matrix dx)
{
    const struct gemm product = {.operation = "linear_grad_input",
                                 .a = dy,
                                 .b = w,
                                 .d = dx,
                                 .transposes_a = false,
                                 .transposes_b = false,
                                 .adds = false,
                                 .end = GEMM_PLAIN,
                                 .bias = NULL};

    gemm(&product);
}
