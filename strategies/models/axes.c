/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/models/axes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/history/history.h"
#include "strategies/space/space.h"

static void lay_steps(struct axis *axis, const struct param *param)
{
    size_t n = axis->cardinality;

    axis->centers = mem_array(n, sizeof(*axis->centers));
    axis->edges = mem_array(n + 1, sizeof(*axis->edges));
    axis->step = 1;
    for (size_t k = 0; k < n; k++) {
        struct value value = param_value_at(param, k);

        axis->centers[k] = param_to_unit(param, &value);
        /* a center is the middle of its edges */
        axis->edges[k + 1] = 2 * axis->centers[k] - axis->edges[k];
        if (k > 0)
            axis->step =
                fmin(axis->step, axis->centers[k] - axis->centers[k - 1]);
    }
    axis->edges[n] = 1;
}

void axes_init(struct axes *axes, const struct space *space)
{
    size_t count = space_count(space);

    *axes = (struct axes){.list = mem_array(count, sizeof(*axes->list))};
    for (size_t i = 0; i < count; i++) {
        const struct param *param = space_param(space, i);
        uint64_t n = param_cardinality(param);
        struct axis *axis = &axes->list[axes->count];

        if (n == 1)
            continue;
        *axis = (struct axis){.param = i, .cardinality = n};
        axes->count++;
        if (param->kind == PARAM_CATEGORICAL || param->kind == PARAM_BOOL) {
            axis->kind = AXIS_CHOICES;
        } else if (n > 0 && n <= AXIS_STEPS_MAX) {
            axis->kind = AXIS_STEPS;
            lay_steps(axis, param);
        } else if (n > 0) {
            axis->step = 1 / (double)n;
        }
    }
}

void axes_clear(struct axes *axes)
{
    for (size_t i = 0; i < axes->count; i++) {
        free(axes->list[i].centers);
        free(axes->list[i].edges);
    }
    free(axes->list);
    *axes = (struct axes){0};
}

size_t axis_index(const struct axis *axis, double u)
{
    size_t k = 0;

    if (axis->kind == AXIS_CHOICES)
        return history_choice(u, axis->cardinality);
    while (k + 1 < axis->cardinality && u >= axis->edges[k + 1])
        k++;
    return k;
}

double axis_snap(const struct axis *axis, double u)
{
    switch (axis->kind) {
    case AXIS_CONTINUUM:
        break;
    case AXIS_STEPS:
        return axis->centers[axis_index(axis, u)];
    case AXIS_CHOICES:
        return ((double)axis_index(axis, u) + 0.5) / (double)axis->cardinality;
    }
    return u;
}
