/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/* Optimizers, over all parameters at once. */

static __global__ void sgd(struct sgd_rates rates, const float *g, float *v,
                           float *w, size_t count)
{
    const float momentum = (float)rates.momentum, rate = (float)rates.rate;
    const float decay = (float)rates.decay, scale = (float)rates.scale;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        v[i] = momentum * v[i] + scale * g[i] + decay * w[i];
        w[i] -= rate * v[i];
    }
}

void cuda_sgd(const struct sgd_rates *rates, struct matrix g, struct matrix v,
              struct matrix w)
{
    launch(each_of("sgd", w.columns), sgd, *rates, (const float *)g.data,
           v.data, w.data, w.columns);
}

static __global__ void adam(struct adam_rates rates, const float *g, float *m,
                            float *v, float *w, size_t count)
{
    const float keep1 = (float)rates.beta1, keep2 = (float)rates.beta2;
    const float rate = (float)rates.rate, tiny = (float)rates.epsilon;
    const float keep = (float)rates.keep, scale = (float)rates.scale;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        const float gradient = scale * g[i];

        m[i] = keep1 * m[i] + (1 - keep1) * gradient;
        v[i] = keep2 * v[i] + (1 - keep2) * gradient * gradient;
        w[i] = keep * w[i] - rate * m[i] / (sqrtf(v[i]) + tiny);
    }
}

void cuda_adam(const struct adam_rates *rates, struct matrix g,
               const struct adam_moments *moments, struct matrix w)
{
    launch(each_of("adam", w.columns), adam, *rates, (const float *)g.data,
           moments->first.data, moments->second.data, w.data, w.columns);
}
