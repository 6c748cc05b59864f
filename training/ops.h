/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_H
#define SMTUNE_TRAINING_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "training/params.h"

/*
 * The operations that models are made of, each with its gradient beside it. A
 * batch is a matrix with one example a row. Every matrix is the caller's, and
 * shapes that do not fit are the caller's fault. Nothing allocates.
 */

/* x[i] = (bytes[i] / 255 - mean) / deviation for x.columns bytes a row;
 * row r comes from images + rows[r] * x.columns. */
void op_normalize(const uint8_t *images, const uint32_t *rows, struct matrix x);

/* y = x wT + bias; x [n][in], w [out][in], bias [1][out], y [n][out]. */
void op_linear(struct matrix x, struct matrix w, struct matrix bias,
               struct matrix y);
/* Given dy: dw = dyT x and dbias = the sum of dy's rows. */
void op_linear_grad_params(struct matrix x, struct matrix dy, struct matrix dw,
                           struct matrix dbias);
/* Given dy: dx = dy w. */
void op_linear_grad_input(struct matrix dy, struct matrix w, struct matrix dx);

/* In place: max(x, 0); a NaN stays one. */
void op_relu(struct matrix x);
/* In place: each element becomes 0 with probability `rate` < 1, or else is
 * scaled by 1 / (1 - rate) (Srivastava et al., JMLR 15, 2014). */
void op_dropout(struct matrix x, double rate, struct rng *rng);
/* dy, given what op_relu and op_dropout (rate 0: none) made of x, becomes dx,
 * in place. What either put to 0 passes no gradient on. */
void op_relu_dropout_grad(struct matrix y, double rate, struct matrix dy);

/*
 * Softmax and cross entropy in one: returns the loss summed over the rows (NaN
 * when any logit is), adds to *errors the rows whose largest logit is not at
 * their label, and turns the logits into probabilities in place.
 */
double op_softmax_loss(struct matrix logits, const uint8_t *labels,
                       size_t *errors);
/* Those probabilities become, in place, the gradient of the rows' mean loss
 * with respect to the logits. */
void op_softmax_loss_grad(struct matrix probabilities, const uint8_t *labels);

#endif
