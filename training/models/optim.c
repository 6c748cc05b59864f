/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/optim.h"

#include <math.h>
#include <string.h>

static struct matrix row_of(real *numbers, size_t count)
{
    return (struct matrix){numbers, 1, count};
}

struct rule {
    int moment_count;
    void (*step)(const struct optim *optim, const struct optim_span *span,
                 double lr, double scale, uint64_t step);
};

static void sgd_step(const struct optim *optim, const struct optim_span *span,
                     double lr, double scale, uint64_t step)
{
    const struct sgd_rates rates = {.momentum = optim->settings.momentum,
                                    .rate = lr,
                                    .decay = optim->settings.weight_decay,
                                    .scale = scale};

    (void)step;
    optim->backend->ops->sgd(
        &rates, row_of(span->grads, span->count),
        row_of(optim->moments[0] + span->first, span->count),
        row_of(span->values, span->count));
}

/* In the order of operations of section 2 of Kingma and Ba (ops.h). */
static void adam_step(const struct optim *optim, const struct optim_span *span,
                      double lr, double scale, uint64_t step)
{
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    const double t = (double)step + 1;
    const double correction = sqrt(1 - pow(beta2, t));
    const struct adam_rates rates = {
        .beta1 = beta1,
        .beta2 = beta2,
        .rate = lr * correction / (1 - pow(beta1, t)),
        .epsilon = epsilon * correction,
        .keep = 1 - lr * optim->settings.weight_decay,
        .scale = scale};
    const struct adam_moments moments = {
        row_of(optim->moments[0] + span->first, span->count),
        row_of(optim->moments[1] + span->first, span->count)};

    optim->backend->ops->adam(&rates, row_of(span->grads, span->count),
                              &moments, row_of(span->values, span->count));
}

static const struct rule rules[] = {{1, sgd_step}, {2, adam_step}};
const char *const optim_names[] = {"sgd", "adam", NULL};

int optim_moment_count(int rule)
{
    return rules[rule].moment_count;
}

int optim_init(struct optim *optim, const struct optim_settings *settings,
               size_t count, const struct backend *backend, struct err *err)
{
    memset(optim, 0, sizeof(*optim));
    optim->backend = backend;
    optim->settings = *settings;
    optim->moment_count = rules[settings->rule].moment_count;
    for (int i = 0; i < optim->moment_count; i++) {
        optim->moments[i] = backend_array(backend, count, err);
        if (optim->moments[i] == NULL)
            return -1;
    }
    return 0;
}

void optim_clear(struct optim *optim)
{
    for (int i = 0; i < optim->moment_count; i++)
        optim->backend->release(optim->moments[i]);
    memset(optim, 0, sizeof(*optim));
}

int optim_step(struct optim *optim, const struct optim_span *span, double lr,
               double scale, uint64_t step, struct err *err)
{
    rules[optim->settings.rule].step(optim, span, lr, scale, step);
    return optim->backend->synchronize(err);
}
