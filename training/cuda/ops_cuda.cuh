/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_OPS_CUDA_CUH
#define SMTUNE_TRAINING_CUDA_OPS_CUDA_CUH

#include "training/cuda/device.cuh"

/* The entries of both tables, which ops.h describes; the other files have them.
 * What multiplies matrices does so with operands of a type, float or bf16. */

extern const struct ops ops_cuda, ops_cuda_bf16;

void cuda_normalize(const uint8_t *bytes, struct matrix x);
template <typename Number>
void cuda_linear(struct matrix x, struct matrix w, struct matrix bias,
                 struct matrix y);
template <typename Number>
void cuda_linear_grads(const struct linear_pass *pass);
/* dx = dy w: a part of linear_grads. */
template <typename Number>
void cuda_linear_grad_input(struct matrix dy, struct matrix w,
                            struct matrix dx);
void cuda_relu(struct matrix x);
void cuda_dropout(struct matrix x, double rate, const struct noise *noise);
void cuda_relu_dropout_grad(struct matrix y, double rate, struct matrix dy);
template <typename Number>
void cuda_conv(struct matrix x, struct matrix w, struct matrix bias,
               const struct conv_space *space, struct matrix y);
template <typename Number>
void cuda_conv_grad_params(struct matrix x, struct matrix dy,
                           const struct conv_space *space, struct matrix dw,
                           struct matrix dbias);
template <typename Number>
void cuda_conv_grad_input(struct matrix dy, struct matrix w,
                          const struct conv_space *space, struct matrix dx);
void cuda_pool(struct matrix x, struct grid grid, struct matrix y);
void cuda_pool_grad(struct matrix dy, struct grid grid, struct matrix x);
void cuda_softmax_loss(struct matrix logits, const uint16_t *targets,
                       struct totals *totals);
void cuda_softmax_loss_grad(struct matrix logits, const uint16_t *targets,
                            double scale, struct totals *totals);
void cuda_clear(struct matrix x);
void cuda_copy(struct matrix from, struct matrix to);
void cuda_add(struct matrix a, struct matrix b, struct matrix sum);
void cuda_square_sums(struct matrix x, double *squares);
void cuda_embedding(const uint16_t *tokens, struct matrix table,
                    struct matrix positions, struct matrix x);
void cuda_embedding_grad(const uint16_t *tokens, struct matrix dx,
                         struct matrix dtable, struct matrix dpositions);
void cuda_layernorm(struct matrix x, struct matrix delta,
                    const struct layernorm *norm, struct matrix y);
void cuda_layernorm_grad(const struct layernorm *norm, struct matrix dy,
                         const struct layernorm_grads *grads,
                         struct matrix dsum);
void cuda_gelu(struct matrix x, struct matrix y);
void cuda_gelu_grad(struct matrix x, struct matrix dy);
void cuda_attention(struct matrix qkv, const struct attention *how,
                    struct matrix y);
void cuda_attention_grad(const struct attention_pass *pass,
                         const struct attention *how);
void cuda_attention_bf16(struct matrix qkv, const struct attention *how,
                         struct matrix y);
void cuda_attention_grad_bf16(const struct attention_pass *pass,
                              const struct attention *how);
void cuda_sgd(const struct sgd_rates *rates, struct matrix g, struct matrix v,
              struct matrix w);
void cuda_adam(const struct adam_rates *rates, struct matrix g,
               const struct adam_moments *moments, struct matrix w);

#endif
