/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_OPS_CPU_H
#define SMTUNE_TRAINING_OPS_OPS_CPU_H

#include "training/ops/ops.h"

/* The entries of ops_cpu, which ops.h describes; the files *.c have them. */

void cpu_normalize(const uint8_t *bytes, struct matrix x);

void cpu_linear(struct matrix x, struct matrix w, struct matrix bias,
                struct matrix y);
void cpu_linear_grads(const struct linear_pass *pass);
/* dx = dy w: a part of linear_grads. */
void cpu_linear_grad_input(struct matrix dy, struct matrix w, struct matrix dx);

void cpu_relu(struct matrix x);
void cpu_dropout(struct matrix x, double rate, const struct noise *noise);
void cpu_relu_dropout_grad(struct matrix y, double rate, struct matrix dy);

void cpu_conv(struct matrix x, struct matrix w, struct matrix bias,
              const struct conv_space *space, struct matrix y);
void cpu_conv_grad_params(struct matrix x, struct matrix dy,
                          const struct conv_space *space, struct matrix dw,
                          struct matrix dbias);
void cpu_conv_grad_input(struct matrix dy, struct matrix w,
                         const struct conv_space *space, struct matrix dx);

void cpu_pool(struct matrix x, struct grid grid, struct matrix y);
void cpu_pool_grad(struct matrix dy, struct grid grid, struct matrix x);

void cpu_softmax_loss(struct matrix logits, const uint16_t *targets,
                      struct totals *totals);
void cpu_softmax_loss_grad(struct matrix logits, const uint16_t *targets,
                           double scale, struct totals *totals);

void cpu_clear(struct matrix x);
void cpu_copy(struct matrix from, struct matrix to);
void cpu_add(struct matrix a, struct matrix b, struct matrix sum);
void cpu_square_sums(struct matrix x, double *squares);
void cpu_embedding(const uint16_t *tokens, struct matrix table,
                   struct matrix positions, struct matrix x);
void cpu_embedding_grad(const uint16_t *tokens, struct matrix dx,
                        struct matrix dtable, struct matrix dpositions);
void cpu_layernorm(struct matrix x, struct matrix delta,
                   const struct layernorm *norm, struct matrix y);
void cpu_layernorm_grad(const struct layernorm *norm, struct matrix dy,
                        const struct layernorm_grads *grads,
                        struct matrix dsum);
void cpu_gelu(struct matrix x, struct matrix y);
void cpu_gelu_grad(struct matrix x, struct matrix dy);
void cpu_attention(struct matrix qkv, const struct attention *how,
                   struct matrix y);
void cpu_attention_grad(const struct attention_pass *pass,
                        const struct attention *how);

void cpu_sgd(const struct sgd_rates *rates, struct matrix g, struct matrix v,
             struct matrix w);
void cpu_adam(const struct adam_rates *rates, struct matrix g,
              const struct adam_moments *moments, struct matrix w);

#endif
