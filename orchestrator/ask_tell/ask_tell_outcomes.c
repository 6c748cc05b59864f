/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clients report by how much each bound of a constraint is exceeded, and the
 * record has values of metrics. What the search learns is computed from the
 * values, so it learns the same from the record. Of a metric with two bounds
 * the larger excess decides; where both hold, the value is within them.
 */
#include <math.h>

#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "store/store.h"

/* The value that exceeds the bounds by so much, of those that there are; NaN:
 * one is not known, or there is none. */
static double outcome_of(const struct outcome_bounds *bounds, double below,
                         double above)
{
    double value = below > above ? bounds->min - below : bounds->max + above;

    if (isnan(below) || isnan(above))
        return (double)NAN;
    if (!isfinite(bounds->min) || !isfinite(bounds->max))
        return isfinite(bounds->min)   ? bounds->min - below
               : isfinite(bounds->max) ? bounds->max + above
                                       : (double)NAN;
    return below <= 0 && above <= 0
               ? fmin(fmax(value, bounds->min), bounds->max)
               : value;
}

/* [outcome_count], from what each bound is exceeded by. The caller's. */
static double *outcomes_of(const struct experiment *experiment,
                           const double *excesses)
{
    double *outcomes = ask_tell_new_nans(experiment->outcome_count);

    for (size_t i = 0; i < experiment->outcome_count; i++) {
        const struct outcome_bounds *bounds = &experiment->outcomes[i];
        double below = isfinite(bounds->min) ? *excesses++ : 0.0;
        double above = isfinite(bounds->max) ? *excesses++ : 0.0;

        outcomes[i] = outcome_of(bounds, below, above);
    }
    return outcomes;
}

double *ask_tell_outcomes(const struct ask_tell *ask_tell,
                          const double *excesses)
{
    return ask_tell->experiment->outcome_count > 0
               ? outcomes_of(ask_tell->experiment, excesses)
               : NULL;
}
