/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

static const double tail = 4;
static const double most = 1e300;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void warp_locate(struct warp *warp, const double *values, size_t count)
{
    static const double quantiles[] = {0.5, 0.75, 0.9, 1};
    double *sorted = mem_copy_array(values, count, sizeof(*sorted));

    qsort(sorted, count, sizeof(*sorted), compare);
    warp->best = sorted[0];
    warp->half_scale = 0.5;
    for (size_t q = 0; q < ARRAY_LEN(quantiles); q++) {
        double value = sorted[(size_t)(quantiles[q] * (double)(count - 1))];
        double half = value / 2 - warp->best / 2; /* the range may overflow */

        if (half > 0) {
            warp->half_scale = half;
            break;
        }
    }
    free(sorted);
}

double warp_stretch(const struct warp *warp, double value)
{
    double t = (value / 2 - warp->best / 2) / warp->half_scale;

    t = fmin(t, most);
    return t > tail ? tail + tail * log(t / tail) : t;
}

double warp_bend(const struct warp *warp, double stretched)
{
    return (log1p(warp->strength * stretched) - warp->mean) / warp->deviation;
}

double warp_apply(const struct warp *warp, double value)
{
    return warp_bend(warp, warp_stretch(warp, value));
}

double warp_undo(const struct warp *warp, double z)
{
    double t = expm1(warp->mean + warp->deviation * z) / warp->strength;

    if (t > tail)
        t = tail * exp(t / tail - 1);
    return warp->best + 2 * (warp->half_scale * t);
}

double warp_slope(const struct warp *warp, double z)
{
    double t = expm1(warp->mean + warp->deviation * z) / warp->strength;
    double slope = (1 + warp->strength * t) / warp->strength * warp->deviation;

    if (t > tail)
        slope *= exp(t / tail - 1);
    return slope * 2 * warp->half_scale;
}
