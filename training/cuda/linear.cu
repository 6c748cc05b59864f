/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/columns.cuh"
#include "training/cuda/gemm.cuh"
#include "training/cuda/ops_cuda.cuh"

template <typename Number>
void cuda_linear(struct matrix x, struct matrix w, struct matrix bias,
                 struct matrix y)
{
    const struct gemm product = {.operation = "linear",
                                 .type = type_of<Number>,
                                 .a = operand_of(x),
                                 .b = operand_of(w),
                                 .d = y,
                                 .transposes_a = false,
                                 .transposes_b = true,
                                 .adds = false,
                                 .end = bias.data != NULL ? GEMM_ADD_BIAS
                                                          : GEMM_PLAIN,
                                 .bias = bias.data};

    gemm(&product);
}

template <typename Number>
void cuda_linear_grad_params(struct matrix x, struct matrix dy,
                             struct matrix dw, struct matrix dbias)
{
    const bool fuses = dbias.data != NULL && type_of<Number> == CUDA_R_32F;
    const struct gemm product = {.operation = "linear_grad_params",
                                 .type = type_of<Number>,
                                 .a = operand_of(dy),
                                 .b = operand_of(x),
                                 .d = dw,
                                 .transposes_a = true,
                                 .transposes_b = false,
                                 .adds = false,
                                 .end = fuses ? GEMM_SUM_LEFT_T : GEMM_PLAIN,
                                 .bias = dbias.data};

    if (dbias.data != NULL && !fuses)
        sum_columns(product.operation, dy, dbias);
    gemm(&product);
}

template <typename Number>
void cuda_linear_grad_input(struct matrix dy, struct matrix w, struct matrix dx)
{
    const struct gemm product = {.operation = "linear_grad_input",
                                 .type = type_of<Number>,
                                 .a = operand_of(dy),
                                 .b = operand_of(w),
                                 .d = dx,
                                 .transposes_a = false,
                                 .transposes_b = false,
                                 .adds = false,
                                 .end = GEMM_PLAIN,
                                 .bias = NULL};

    gemm(&product);
}

template decltype(cuda_linear<float>) cuda_linear<float>;
template decltype(cuda_linear<bf16>) cuda_linear<bf16>;
template decltype(cuda_linear_grad_params<float>)
    cuda_linear_grad_params<float>;
template decltype(cuda_linear_grad_params<bf16>) cuda_linear_grad_params<bf16>;
template decltype(cuda_linear_grad_input<float>) cuda_linear_grad_input<float>;
template decltype(cuda_linear_grad_input<bf16>) cuda_linear_grad_input<bf16>;
