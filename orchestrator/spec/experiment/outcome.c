/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/outcome.h"

#include <math.h>

#include "store/store.h"

size_t outcome_bound_count(const struct outcome_bounds *outcomes, size_t count)
{
    size_t bounds = 0;

    for (size_t i = 0; i < count; i++)
        bounds += (size_t)isfinite(outcomes[i].min) +
                  (size_t)isfinite(outcomes[i].max);
    return bounds;
}

void outcome_excess(const struct outcome_bounds *outcomes, size_t count,
                    const double *values, double *excess)
{
    for (size_t i = 0; i < count; i++) {
        if (isfinite(outcomes[i].min))
            *excess++ = outcomes[i].min - values[i];
        if (isfinite(outcomes[i].max))
            *excess++ = values[i] - outcomes[i].max;
    }
}

/* NaN is not within any bounds. */
static double exceeded(const struct outcome_bounds *outcome, double value)
{
    if (isnan(value))
        return (double)INFINITY;
    if (value < outcome->min)
        return outcome->min - value;
    return value > outcome->max ? value - outcome->max : 0.0;
}

double outcome_violation(const struct outcome_bounds *outcomes, size_t count,
                         const double *values)
{
    double sum = 0.0;

    if (values == NULL)
        return count > 0 ? (double)INFINITY : 0.0;
    for (size_t i = 0; i < count; i++)
        sum += exceeded(&outcomes[i], values[i]);
    return sum;
}
