/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/space/lattice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/space/space.h"

struct axis {
    size_t param;
    uint64_t count;
    uint64_t stride;      /* positions from one of its values to the next */
    struct value *picked; /* [count]; NULL: all values of the parameter */
};

struct lattice {
    struct space *space;
    struct axis *axes; /* [axis_count], in space_order */
    size_t axis_count;
    uint64_t size;
};

/* x, or the short decimal that it is but for rounding: 0.001, not
 * 0.0009999999999999998, which equals no number that a user writes. */
static double clean(double x)
{
    char text[40];
    double rounded;

    snprintf(text, sizeof(text), "%.12g", x);
    rounded = strtod(text, NULL);
    return fabs(rounded - x) <= 1e-14 * fabs(x) ? rounded : x;
}

/* Value i of n, even on the scale. */
static struct value even_value(const struct param *param, uint64_t i,
                               uint64_t n)
{
    double u = n > 1 ? (double)i / (double)(n - 1) : 0.5;
    struct value value = param_from_unit(param, u);

    if (i > 0 && i + 1 < n)
        value.real = clean(value.real);
    return value;
}

static int pick_values(struct axis *axis, const struct param *param,
                       uint64_t axis_points, struct err *err)
{
    if (axis_points == 0 || axis_points > LATTICE_AXIS_MAX)
        return err_set(err, ERR_FILE,
                       "out of range: a grid has from 1 to %d points for "
                       "parameter '%s', not %" PRIu64,
                       LATTICE_AXIS_MAX, param->name, axis_points);
    axis->picked = mem_array(axis_points, sizeof(*axis->picked));
    axis->count = 0;
    for (uint64_t i = 0; i < axis_points; i++) {
        struct value value = even_value(param, i, axis_points);

        if (axis->count == 0 ||
            !value_equal(&axis->picked[axis->count - 1], &value))
            axis->picked[axis->count++] = value;
    }
    return 0;
}

static int set_axis(struct axis *axis, const struct param *param,
                    uint64_t axis_points, struct err *err)
{
    uint64_t n = param_cardinality(param);

    axis->count = n;
    return n > 0 ? 0 : pick_values(axis, param, axis_points, err);
}

struct lattice *lattice_create(struct space *space, uint64_t axis_points,
                               struct err *err)
{
    struct lattice *lattice = mem_zero(sizeof(*lattice));

    lattice->space = space;
    lattice->axis_count = space_count(space);
    lattice->axes = mem_array(lattice->axis_count, sizeof(*lattice->axes));
    lattice->size = 1;
    for (size_t i = lattice->axis_count; i-- > 0;) {
        struct axis *axis = &lattice->axes[i];

        axis->param = space_order(space)[i];
        axis->stride = lattice->size;
        if (set_axis(axis, space_param(space, axis->param), axis_points, err))
            goto fail;
        if (lattice->size > (UINT64_C(1) << 62) / axis->count) {
            err_set(err, ERR_FILE,
                    "out of range: the grid has more than 4611686018427387904 "
                    "(2^62) points: use sobol or random, or fewer points per "
                    "parameter");
            goto fail;
        }
        lattice->size *= axis->count;
    }
    return lattice;

fail:
    lattice_destroy(lattice);
    return NULL;
}

void lattice_destroy(struct lattice *lattice)
{
    if (lattice == NULL)
        return;
    for (size_t i = 0; i < lattice->axis_count; i++)
        free(lattice->axes[i].picked);
    free(lattice->axes);
    free(lattice);
}

uint64_t lattice_size(const struct lattice *lattice)
{
    return lattice->size;
}

static uint64_t digit(const struct axis *axis, uint64_t position)
{
    return position / axis->stride % axis->count;
}

/* The first position whose first `depth` digits are not those of this one. */
static uint64_t after_prefix(const struct lattice *lattice, size_t depth,
                             uint64_t position)
{
    uint64_t stride;

    if (depth == 0)
        return lattice->size;
    stride = lattice->axes[depth - 1].stride;
    return (position / stride + 1) * stride;
}

bool lattice_at(const struct lattice *lattice, uint64_t position,
                struct value *point, uint64_t *next)
{
    struct space *space = lattice->space;
    size_t depth;

    for (size_t i = 0; i < lattice->axis_count; i++) {
        const struct axis *axis = &lattice->axes[i];
        uint64_t k = digit(axis, position);

        point[axis->param] =
            axis->picked != NULL
                ? axis->picked[k]
                : param_value_at(space_param(space, axis->param), k);
    }
    space_apply_conditions(space, point);
    for (size_t i = 0; i < lattice->axis_count; i++) {
        const struct axis *axis = &lattice->axes[i];

        if (point[axis->param].type != VALUE_NULL || digit(axis, position) == 0)
            continue;
        *next = after_prefix(lattice, i, position); /* digit 0 was there */
        return false;
    }
    if (!space_feasible_prefix(space, point, &depth)) {
        *next = after_prefix(lattice, depth, position);
        return false;
    }
    *next = position + 1;
    return true;
}
