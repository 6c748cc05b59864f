/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/trust_region.h"

#include <math.h>

/* The paper's, for one suggestion at a time. */
enum { SUCCESSES = 3, FAILURES_MIN = 4 };

static const double first_length = 0.8, longest = 1.6, shortest = 0.0078125;

void trust_region_init(struct trust_region *region, size_t dimensions)
{
    *region = (struct trust_region){.length = first_length,
                                    .best = (double)INFINITY,
                                    .dimensions = dimensions};
}

void trust_region_tell(struct trust_region *region, double value)
{
    size_t patience =
        region->dimensions < FAILURES_MIN ? FAILURES_MIN : region->dimensions;

    if (value < region->best) {
        region->best = value;
        region->successes++;
        region->failures = 0;
    } else {
        region->failures++;
        region->successes = 0;
    }
    if (region->successes == SUCCESSES) {
        region->length = fmin(2 * region->length, longest);
        region->successes = 0;
    } else if (region->failures == patience) {
        region->length /= 2;
        region->failures = 0;
    }
    if (region->length < shortest)
        region->length = first_length;
}

void trust_region_box(const struct trust_region *region, const double *centre,
                      const double *log_lengths, double *low, double *high)
{
    double mean = 0;

    for (size_t k = 0; k < region->dimensions; k++)
        mean += log_lengths[k] / (double)region->dimensions;
    for (size_t k = 0; k < region->dimensions; k++) {
        double half = 0.5 * region->length * exp(log_lengths[k] - mean);
        double at = centre[k];

        low[k] = isnan(at) ? 0 : fmax(at - half, 0);
        high[k] = isnan(at) ? 1 : fmin(at + half, 1);
    }
}
