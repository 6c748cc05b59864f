/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/ops_cpu.h"

const struct ops ops_cpu = {
    .name = "cpu",
    .patch_bytes = (size_t)256 * 1024, /* fit into a core's second cache */
    .normalize = cpu_normalize,
    .linear = cpu_linear,
    .linear_grads = cpu_linear_grads,
    .relu = cpu_relu,
    .dropout = cpu_dropout,
    .relu_dropout_grad = cpu_relu_dropout_grad,
    .conv = cpu_conv,
    .conv_grad_params = cpu_conv_grad_params,
    .conv_grad_input = cpu_conv_grad_input,
    .pool = cpu_pool,
    .pool_grad = cpu_pool_grad,
    .softmax_loss = cpu_softmax_loss,
    .softmax_loss_grad = cpu_softmax_loss_grad,
    .clear = cpu_clear,
    .copy = cpu_copy,
    .add = cpu_add,
    .square_sums = cpu_square_sums,
    .embedding = cpu_embedding,
    .embedding_grad = cpu_embedding_grad,
    .layernorm = cpu_layernorm,
    .layernorm_grad = cpu_layernorm_grad,
    .gelu = cpu_gelu,
    .gelu_grad = cpu_gelu_grad,
    .attention = cpu_attention,
    .attention_grad = cpu_attention_grad,
    .sgd = cpu_sgd,
    .adam = cpu_adam,
};
