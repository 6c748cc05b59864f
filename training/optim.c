/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/optim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

struct rule {
    int moment_count;
    void (*step)(const struct optim *optim, const struct optim_span *span,
                 double lr, double scale, uint64_t step);
};

/* v = momentum v + g; w = w - lr v (Sutskever et al., ICML 2013, in the form
 * in which lr scales the whole velocity). */
SIMD_CLONES static void sgd_step(const struct optim *optim,
                                 const struct optim_span *span, double lr,
                                 double scale, uint64_t step)
{
    const real momentum = (real)optim->settings.momentum;
    const real decay = (real)optim->settings.weight_decay;
    const real rate = (real)lr;
    const real factor = (real)scale;
    real *restrict w = span->values;
    const real *restrict g = span->grads;
    real *restrict v = optim->moments[0] + span->first;

    (void)step;
    for (size_t i = 0; i < span->count; i++) {
        v[i] = momentum * v[i] + factor * g[i] + decay * w[i];
        w[i] -= rate * v[i];
    }
}

/* Kingma and Ba, "Adam", ICLR 2015, algorithm 1, in the order of operations
 * of its section 2; the decay as Loshchilov and Hutter, ICLR 2019. */
SIMD_CLONES static void adam_step(const struct optim *optim,
                                  const struct optim_span *span, double lr,
                                  double scale, uint64_t step)
{
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    const double t = (double)step + 1;
    const double correction = sqrt(1 - pow(beta2, t));
    const real rate = (real)(lr * correction / (1 - pow(beta1, t)));
    const real tiny = (real)(epsilon * correction);
    const real keep = (real)(1 - lr * optim->settings.weight_decay);
    const real keep1 = (real)beta1, keep2 = (real)beta2;
    const real factor = (real)scale;
    real *restrict w = span->values;
    const real *restrict g = span->grads;
    real *restrict m = optim->moments[0] + span->first;
    real *restrict v = optim->moments[1] + span->first;

    for (size_t i = 0; i < span->count; i++) {
        const real gradient = factor * g[i];

        m[i] = keep1 * m[i] + (1 - keep1) * gradient;
        v[i] = keep2 * v[i] + (1 - keep2) * gradient * gradient;
        w[i] = keep * w[i] - rate * m[i] / (real_sqrt(v[i]) + tiny);
    }
}

static const struct rule rules[] = {{1, sgd_step}, {2, adam_step}};
const char *const optim_names[] = {"sgd", "adam", NULL};

int optim_moment_count(int rule)
{
    return rules[rule].moment_count;
}

int optim_init(struct optim *optim, const struct optim_settings *settings,
               size_t count, struct err *err)
{
    memset(optim, 0, sizeof(*optim));
    optim->settings = *settings;
    optim->moment_count = rules[settings->rule].moment_count;
    for (int i = 0; i < optim->moment_count; i++) {
        optim->moments[i] = real_array(count, err);
        if (optim->moments[i] == NULL)
            return -1;
    }
    return 0;
}

void optim_clear(struct optim *optim)
{
    for (size_t i = 0; i < ARRAY_LEN(optim->moments); i++)
        free(optim->moments[i]);
    memset(optim, 0, sizeof(*optim));
}

void optim_step(struct optim *optim, const struct optim_span *span, double lr,
                double scale, uint64_t step)
{
    rules[optim->settings.rule].step(optim, span, lr, scale, step);
}
