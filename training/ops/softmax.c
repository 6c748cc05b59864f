/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Softmax with cross-entropy. The loss is computed from logits, not from
 * probabilities, whose logarithm could be infinite: log(sum of exp(x -
 * largest)) + largest - x[target]. Probabilities then replace the logits, and
 * gradients the probabilities.
 */
#include "training/ops/ops_cpu.h"

#include <math.h>

#include "base/compiler.h"
#include "training/util/fast_math.h"

static size_t largest_index(const real *values, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

/* Exponentials over their sum, which is returned. The largest is taken out
 * first, so that none overflows. */
SIMD_CLONES static real probabilities_of(real *x, size_t count, real largest)
{
    real sum;

    for (size_t i = 0; i < count; i++)
        x[i] = fast_exp(x[i] - largest);
    sum = fast_sum(x, count);
    for (size_t i = 0; i < count; i++)
        x[i] /= sum;
    return sum;
}

void cpu_softmax_loss(struct matrix logits, const uint16_t *targets,
                      struct totals *totals)
{
    for (size_t row = 0; row < logits.rows; row++) {
        real *x = logits.data + row * logits.columns;
        size_t best = largest_index(x, logits.columns);
        real above = x[best] - x[targets[row]];
        real sum = probabilities_of(x, logits.columns, x[best]);

        totals->loss += (double)above + log((double)sum);
        totals->errors += best != targets[row];
    }
}

SIMD_CLONES static void gradients_of(struct matrix probabilities,
                                     const uint16_t *targets, double scale)
{
    for (size_t row = 0; row < probabilities.rows; row++) {
        real *p = probabilities.data + row * probabilities.columns;

        p[targets[row]] -= 1;
        for (size_t i = 0; i < probabilities.columns; i++)
            p[i] *= (real)scale;
    }
}

void cpu_softmax_loss_grad(struct matrix logits, const uint16_t *targets,
                           double scale, struct totals *totals)
{
    cpu_softmax_loss(logits, targets, totals);
    gradients_of(logits, targets, scale);
}
