/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SPACE_LATTICE_H
#define SMTUNE_STRATEGIES_SPACE_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"

/*
 * The points of a finite space, or of a grid laid over any space, by number,
 * without ever being made all at once. A position is a number in a mixed
 * radix: one digit a parameter, in space_order, the last one fastest. A point
 * whose inactive parameters could take any digit counts once, with digits 0.
 */

struct space;
struct lattice;

/* As many as an axis may have of values that are picked from more. */
enum { LATTICE_AXIS_MAX = 1000000 };

/* For axis_points of a finite space, which needs none. */
#define LATTICE_ALL UINT64_MAX

/*
 * Every value of a finite parameter; of a continuum, axis_points values even on
 * its scale with both ends. NULL (ERR_FILE) when that makes more than 2^62
 * points, or axis_points is 0 or above LATTICE_AXIS_MAX and is needed. space is
 * borrowed.
 */
struct lattice *lattice_create(struct space *space, uint64_t axis_points,
                               struct err *err);
void lattice_destroy(struct lattice *lattice);

/* How many positions there are. */
uint64_t lattice_size(const struct lattice *lattice);

/*
 * Whether the position is a feasible point, which then is in point[]. *next is
 * in any case the first later position that may be one; at least the size
 * when there is none.
 */
bool lattice_at(const struct lattice *lattice, uint64_t position,
                struct value *point, uint64_t *next);

#endif
