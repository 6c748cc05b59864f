/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Updates of weights: SGD with momentum, and AdamW. Each number is updated by
 * itself, so ranks may update disjoint parts of the same arrays. `decay` of SGD
 * adds to the gradient; `keep` of AdamW shrinks the weight.
 */
#include "training/ops/ops_cpu.h"

#include "base/compiler.h"

SIMD_CLONES void cpu_sgd(const struct sgd_rates *rates, struct matrix g,
                         struct matrix v, struct matrix w)
{
    const real momentum = (real)rates->momentum, rate = (real)rates->rate;
    const real decay = (real)rates->decay, scale = (real)rates->scale;
    const real *restrict gradients = g.data;
    real *restrict velocities = v.data;
    real *restrict values = w.data;

    for (size_t i = 0; i < w.columns; i++) {
        velocities[i] =
            momentum * velocities[i] + scale * gradients[i] + decay * values[i];
        values[i] -= rate * velocities[i];
    }
}

SIMD_CLONES void cpu_adam(const struct adam_rates *rates, struct matrix g,
                          const struct adam_moments *moments, struct matrix w)
{
    const real keep1 = (real)rates->beta1, keep2 = (real)rates->beta2;
    const real rate = (real)rates->rate, tiny = (real)rates->epsilon;
    const real keep = (real)rates->keep, scale = (real)rates->scale;
    const real *restrict gradients = g.data;
    real *restrict m = moments->first.data;
    real *restrict v = moments->second.data;
    real *restrict values = w.data;

    for (size_t i = 0; i < w.columns; i++) {
        const real gradient = scale * gradients[i];

        m[i] = keep1 * m[i] + (1 - keep1) * gradient;
        v[i] = keep2 * v[i] + (1 - keep2) * gradient * gradient;
        values[i] = keep * values[i] - rate * m[i] / (real_sqrt(v[i]) + tiny);
    }
}
