/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_WARP_H
#define SMTUNE_STRATEGIES_GP_WARP_H

#include <stddef.h>

/*
 * A monotone transform of an objective (lower is better) that makes it more
 * like a Gaussian process: what is far worse than the best is pressed together,
 * and the resolution is kept near the best. Three steps, each smooth:
 *
 *   t = (y - best) / (median - best)             0 for the best, 1 typical
 *   t > 4: 4 + 4 log(t / 4)                      1e300 becomes a number
 *   z = (log(1 + strength t) - mean) / deviation
 *
 * The strength is fitted together with the process, by its marginal likelihood
 * times the transform's slope (E. Snelson, C. Rasmussen and Z. Ghahramani,
 * "Warped Gaussian Processes", NIPS 2003, equation 4).
 */
struct warp {
    double best, half_scale;
    double strength;
    double mean, deviation;
};

/* Sets best and scale from values[count], count > 0, all finite. */
void warp_locate(struct warp *warp, const double *values, size_t count);
/* The first two steps. */
double warp_stretch(const struct warp *warp, double value);
/* The third. */
double warp_bend(const struct warp *warp, double stretched);
/* All of it, and back. */
double warp_apply(const struct warp *warp, double value);
double warp_undo(const struct warp *warp, double z);
/* dy / dz at z, to put a deviation into the objective's unit. */
double warp_slope(const struct warp *warp, double z);

#endif
