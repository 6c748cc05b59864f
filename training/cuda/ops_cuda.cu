/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/ops_cuda.cuh"

#include "training/cuda/operand.cuh"

template <typename Number>
static constexpr bool is_bf16 = type_of<Number> == CUDA_R_16BF;

template <typename Number>
static constexpr struct ops ops_of = {
    .name = "cuda",
    .patch_bytes = (size_t)64 * 1024 * 1024,
    .normalize = cuda_normalize,
    .linear = cuda_linear<Number>,
    .linear_grads = cuda_linear_grads<Number>,
    .relu = cuda_relu,
    .dropout = cuda_dropout,
    .relu_dropout_grad = cuda_relu_dropout_grad,
    .conv = cuda_conv<Number>,
    .conv_grad_params = cuda_conv_grad_params<Number>,
    .conv_grad_input = cuda_conv_grad_input<Number>,
    .pool = cuda_pool,
    .pool_grad = cuda_pool_grad,
    .softmax_loss = cuda_softmax_loss,
    .softmax_loss_grad = cuda_softmax_loss_grad,
    .clear = cuda_clear,
    .copy = cuda_copy,
    .add = cuda_add,
    .square_sums = cuda_square_sums,
    .embedding = cuda_embedding,
    .embedding_grad = cuda_embedding_grad,
    .layernorm = cuda_layernorm,
    .layernorm_grad = cuda_layernorm_grad,
    .gelu = cuda_gelu,
    .gelu_grad = cuda_gelu_grad,
    .attention = is_bf16<Number> ? cuda_attention_bf16 : cuda_attention,
    .attention_grad =
        is_bf16<Number> ? cuda_attention_grad_bf16 : cuda_attention_grad,
    .sgd = cuda_sgd,
    .adam = cuda_adam,
};

const struct ops ops_cuda = ops_of<float>;
const struct ops ops_cuda_bf16 = ops_of<bf16>;
