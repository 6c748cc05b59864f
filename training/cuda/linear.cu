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

static void multiply_grads(const struct linear_pass *pass, cudaDataType_t type,
                           struct operand dy, bool sums_bias)
{
    const struct gemm product = {.operation = "linear_grads",
                                 .type = type,
                                 .a = dy,
                                 .b = operand_of(pass->x),
                                 .d = pass->dw,
                                 .transposes_a = true,
                                 .transposes_b = false,
                                 .adds = false,
                                 .end =
                                     sums_bias ? GEMM_SUM_LEFT_T : GEMM_PLAIN,
                                 .bias = pass->dbias.data};

    gemm(&product);
}

static void multiply_input(struct matrix w, cudaDataType_t type,
                           struct operand dy, struct matrix dx)
{
    const struct gemm product = {.operation = "linear_grads",
                                 .type = type,
                                 .a = dy,
                                 .b = operand_of(w),
                                 .d = dx,
                                 .transposes_a = false,
                                 .transposes_b = false,
                                 .adds = false,
                                 .end = GEMM_PLAIN,
                                 .bias = NULL};

    gemm(&product);
}

/* dy is rounded once, for both products. */
template <typename Number>
void cuda_linear_grads(const struct linear_pass *pass)
{
    const char *operation = "linear_grads";
    const bool wants_bias = pass->dbias.data != NULL;
    const bool fuses = wants_bias && type_of<Number> == CUDA_R_32F;
    const struct operand dy = operand_of(pass->dy);
    const struct operand taken = operand_take(operation, dy, type_of<Number>);

    if (taken.data == NULL)
        return;
    if (wants_bias && !fuses)
        sum_columns(operation, pass->dy, pass->dbias);
    multiply_grads(pass, type_of<Number>, taken, fuses);
    if (pass->dx.data != NULL)
        multiply_input(pass->w, type_of<Number>, taken, pass->dx);
    operand_release(operation, &dy, &taken);
}

template <typename Number>
void cuda_linear_grad_input(struct matrix dy, struct matrix w, struct matrix dx)
{
    multiply_input(w, type_of<Number>, operand_of(dy), dx);
}

template decltype(cuda_linear<float>) cuda_linear<float>;
template decltype(cuda_linear<bf16>) cuda_linear<bf16>;
template decltype(cuda_linear_grads<float>) cuda_linear_grads<float>;
template decltype(cuda_linear_grads<bf16>) cuda_linear_grads<bf16>;
template decltype(cuda_linear_grad_input<float>) cuda_linear_grad_input<float>;
template decltype(cuda_linear_grad_input<bf16>) cuda_linear_grad_input<bf16>;
