/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/models/learning_rate.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* The ratio of signal to noise at a rate of 1, and how fast the rate moves. */
static const double alpha = 1.4, gamma_rate = 0.1;

void learning_rate_init(struct learning_rate *rate, size_t size, double beta)
{
    *rate = (struct learning_rate){
        .eta = 1,
        .beta = beta,
        .mean_step = mem_array(size, sizeof(double)),
        .size = size,
    };
}

void learning_rate_clear(struct learning_rate *rate)
{
    free(rate->mean_step);
    *rate = (struct learning_rate){0};
}

/* The squared norm of the expected step over the variance around it, both
 * estimated from the moving averages without bias. */
static double signal_to_noise(const struct learning_rate *rate)
{
    double signal = 0, noise;

    for (size_t i = 0; i < rate->size; i++)
        signal += rate->mean_step[i] * rate->mean_step[i];
    noise = rate->mean_square - signal;
    signal -= rate->beta / (2 - rate->beta) * rate->mean_square;
    return noise > 0 ? signal / noise : 0;
}

void learning_rate_tell(struct learning_rate *rate, const double *step)
{
    double square = 0, excess;

    for (size_t i = 0; i < rate->size; i++) {
        rate->mean_step[i] += rate->beta * (step[i] - rate->mean_step[i]);
        square += step[i] * step[i];
    }
    rate->mean_square += rate->beta * (square - rate->mean_square);
    excess = signal_to_noise(rate) / (alpha * rate->eta) - 1;
    rate->eta *= exp(fmin(gamma_rate * rate->eta, rate->beta) *
                     fmax(-1, fmin(excess, 1)));
    rate->eta = fmin(rate->eta, 1);
}

void learning_rate_widen(struct learning_rate *rate)
{
    size_t d = rate->size;
    double *wide = mem_array(d * d, sizeof(*wide));

    for (size_t i = 0; i < d; i++)
        wide[i * (d + 1)] = rate->mean_step[i];
    free(rate->mean_step);
    rate->mean_step = wide;
    rate->size = d * d;
}
