/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_OPS_H
#define SMTUNE_TRAINING_OPS_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "training/ops/matrix.h"

/*
 * The operations that models are made of, each with its gradient beside it, as
 * a table: one table a backend (backend.h). Every matrix, and every array of
 * bytes, tokens or targets, is the caller's and lies where the backend
 * computes; shapes that do not fit are the caller's fault. Nothing allocates,
 * and nothing hides a NaN.
 */

/* Random numbers for the rows of a batch, the same whatever part of it they
 * are drawn for. */
struct noise {
    uint64_t seed;
    const uint64_t *step; /* where the backend computes */
    uint32_t stream;      /* see streams.h */
    uint64_t first_row;   /* in the whole batch, of the matrix's first */
};

/* What a batch came to, summed over its targets; known once the backend has
 * been waited for. */
struct totals {
    double loss;
    uint64_t errors;
};

/*
 * Images are [images x height x width][channels] matrices, the lines of the
 * first from top to bottom, then those of the next.
 */
struct grid {
    size_t height, width; /* of each image, at least 1 */
};

enum { CONV_SIDE = 3 }; /* of the window, in pixels */

/* Images, and room to work on the patches under the window. */
struct conv_space {
    struct grid grid;
    /* [lines x width][9 x channels of the input]; as many lines, at least 1, as
     * are to be worked on at a time. */
    struct matrix patches;
};

/*
 * What layernorm needs besides, for matrices of n rows and c columns. `sum` is
 * what is normalized, and `stats` what the way back wants to know of it.
 */
struct layernorm {
    struct matrix gain, bias; /* [1][c] */
    struct matrix sum;        /* [n][c] */
    struct matrix stats;      /* [n][2] */
};

struct layernorm_grads {
    struct matrix gain, bias; /* [1][c] */
};

/* What attention needs besides. Rows come in sequences of `length`; what the
 * first ones of each come to may be known, on the way there. */
struct attention {
    size_t length, heads;
    struct matrix sums;    /* [n][heads]: kept for the way back */
    struct matrix scratch; /* [2 x ATTENTION_BLOCK][length] */
    size_t known;          /* so many rows of each are */
};

enum { ATTENTION_BLOCK = 64 };

/* Of the way back of attention; the shapes are those of qkv and y. */
struct attention_pass {
    struct matrix qkv, y, dy;
    struct matrix dqkv; /* what it comes to */
};

/* Of the way back of linear. Of dbias and dx, data NULL: not wanted. */
struct linear_pass {
    struct matrix x, w, dy;
    struct matrix dw, dbias, dx;
};

/* Of an update of parameters w with moments and gradients g. */
struct sgd_rates {
    double momentum, rate, decay;
    double scale; /* of the gradients */
};

struct adam_rates {
    double beta1, beta2, rate, epsilon;
    double keep;  /* of w */
    double scale; /* of the gradients */
};

struct adam_moments {
    struct matrix first, second;
};

struct ops {
    const char *name;
    size_t patch_bytes; /* that suit it, of conv_space.patches */

    /* x[i] = (bytes[i] / 255 - mean) / deviation for x.columns bytes a row,
     * with the mean and deviation of Fashion-MNIST's pixels. */
    void (*normalize)(const uint8_t *bytes, struct matrix x);

    /* y = x wT + bias; x [n][in], w [out][in], bias [1][out], y [n][out];
     * bias.data NULL: none. */
    void (*linear)(struct matrix x, struct matrix w, struct matrix bias,
                   struct matrix y);
    /* dw = dyT x, dbias = the sum of dy's rows, and dx = dy w. */
    void (*linear_grads)(const struct linear_pass *pass);

    /* In place: max(x, 0); a NaN stays one. */
    void (*relu)(struct matrix x);
    /* In place: each element becomes 0 with probability `rate` < 1, or else is
     * scaled by 1 / (1 - rate) (Srivastava et al., JMLR 15, 2014). */
    void (*dropout)(struct matrix x, double rate, const struct noise *noise);
    /* dy, given what relu and dropout (rate 0: none) made of x, becomes dx, in
     * place. What either put to 0 passes no gradient on. */
    void (*relu_dropout_grad)(struct matrix y, double rate, struct matrix dy);

    /*
     * y[p][o] = bias[o] + the sum over the 3 x 3 pixels q around p, and over
     * all channels c of x, of w[o][q][c] x[q][c]; pixels outside of the image
     * are 0. x [pixels][in], w [out][9 x in], bias [1][out], y [pixels][out].
     */
    void (*conv)(struct matrix x, struct matrix w, struct matrix bias,
                 const struct conv_space *space, struct matrix y);
    /* Given dy: dw and dbias. */
    void (*conv_grad_params)(struct matrix x, struct matrix dy,
                             const struct conv_space *space, struct matrix dw,
                             struct matrix dbias);
    /* Given dy: dx. */
    void (*conv_grad_input)(struct matrix dy, struct matrix w,
                            const struct conv_space *space, struct matrix dx);

    /* The largest (or a NaN) of each 2 x 2 pixels, channel by channel: y
     * [images x (height / 2) x (width / 2)][channels]. What is left over of an
     * odd side counts for nothing. */
    void (*pool)(struct matrix x, struct grid grid, struct matrix y);
    /* x, given dy, becomes dx, in place. */
    void (*pool_grad)(struct matrix dy, struct grid grid, struct matrix x);

    /*
     * Softmax and cross entropy in one: adds the rows' losses (NaN when any
     * logit is) and how many rows have their largest logit elsewhere than at
     * their target, and turns the logits into probabilities in place.
     */
    void (*softmax_loss)(struct matrix logits, const uint16_t *targets,
                         struct totals *totals);
    /* The same, but the logits become the gradient of scale x the sum of their
     * losses. */
    void (*softmax_loss_grad)(struct matrix logits, const uint16_t *targets,
                              double scale, struct totals *totals);

    /* x = 0; to = from, of the same shape. */
    void (*clear)(struct matrix x);
    void (*copy)(struct matrix from, struct matrix to);

    /* sum = a + b, which may be either. This and copy may be asked for by the
     * thread that communicates, too. */
    void (*add)(struct matrix a, struct matrix b, struct matrix sum);
    /* squares[rows] = what each row's numbers squared add up to. */
    void (*square_sums)(struct matrix x, double *squares);

    /* x[i] = table[tokens[i]] + positions[i mod positions.rows]. */
    void (*embedding)(const uint16_t *tokens, struct matrix table,
                      struct matrix positions, struct matrix x);
    /* Given dx: adds to dtable, and sets dpositions. */
    void (*embedding_grad)(const uint16_t *tokens, struct matrix dx,
                           struct matrix dtable, struct matrix dpositions);

    /* sum = x + delta (delta.data NULL: `sum` is x already), and y = (sum -
     * mean) / sqrt(variance + 1e-5) gain + bias, with the mean and variance of
     * each row (Ba, Kiros and Hinton, "Layer normalization", 2016). */
    void (*layernorm)(struct matrix x, struct matrix delta,
                      const struct layernorm *norm, struct matrix y);
    /* Given dy: adds to dsum, sets the gradients of gain and bias; dy is lost.
     */
    void (*layernorm_grad)(const struct layernorm *norm, struct matrix dy,
                           const struct layernorm_grads *grads,
                           struct matrix dsum);

    /* y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the GELU of
     * GPT-2 (Hendrycks and Gimpel, "Gaussian error linear units", 2016). */
    void (*gelu)(struct matrix x, struct matrix y);
    /* dy becomes dx, in place. */
    void (*gelu_grad)(struct matrix x, struct matrix dy);

    /* Of each sequence and head, with q, k and v as the thirds of a row of qkv
     * and heads one after the other in them: y = softmax(q kT / sqrt(width of
     * a head)) v, where a row sees itself and those before it (Vaswani et al.,
     * "Attention is all you need", NIPS 2017, eq. 1). qkv [n][3c], y [n][c].
     */
    void (*attention)(struct matrix qkv, const struct attention *how,
                      struct matrix y);
    void (*attention_grad)(const struct attention_pass *pass,
                           const struct attention *how);

    /* v = momentum v + scale g + decay w; w = w - rate v (Sutskever et al.,
     * ICML 2013, in the form in which the rate scales the whole velocity). */
    void (*sgd)(const struct sgd_rates *rates, struct matrix g, struct matrix v,
                struct matrix w);
    /* m and v as running means of scale g and its square; w = keep w - rate m /
     * (sqrt(v) + epsilon) (Kingma and Ba, "Adam", ICLR 2015, algorithm 1; the
     * decay as Loshchilov and Hutter, ICLR 2019). */
    void (*adam)(const struct adam_rates *rates, struct matrix g,
                 const struct adam_moments *moments, struct matrix w);
};

extern const struct ops ops_cpu;

#endif
