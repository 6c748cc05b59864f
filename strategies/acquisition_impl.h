/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_ACQUISITION_IMPL_H
#define SMTUNE_STRATEGIES_ACQUISITION_IMPL_H

#include "strategies/acquisition.h"

/* Between acquisition.c and acquisition_goals.c alone. */

/* The goals' part of acquisition_evaluate(), added to values and gradients. */
void acquisition_add_goals(const struct acquisition *acquisition,
                           struct acquisition_room *room, const double *points,
                           size_t count, double *values, double *gradients);

/* Room for so many numbers, valid until the next call. */
double *acquisition_reserve_pulls(struct acquisition_room *room, size_t count);

#endif
