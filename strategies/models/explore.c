/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step from a setting to one near it, for population based training;
 * strategies/models/explore.h has the rules. Two properties hold. A parameter
 * with steps moves by at least one step, where a factor of 1.2 might round
 * back. A point that satisfies no constraint is never returned: after TRIES the
 * parent is, which satisfies them.
 */
#include "strategies/models/explore.h"

#include <math.h>

#include "base/rng.h"
#include "strategies/space/space.h"

enum { TRIES = 100 };

static const double grow = 1.2, shrink = 0.8;

static double multiply(enum param_scale scale, double x, double factor)
{
    switch (scale) {
    case SCALE_REVERSE_LOG:
        return 1 - (1 - x) * factor;
    case SCALE_LOGIT:
        return x * factor / (1 - x + x * factor);
    case SCALE_LINEAR:
    case SCALE_LOG:
        break;
    }
    return x * factor;
}

/* The value next to that at u, where there is one. */
static struct value neighbour(const struct param *param, double u, bool is_up)
{
    double low, high, beyond;

    param_share(param, u, &low, &high);
    beyond = (high - low) * 1e-3;
    return param_from_unit(param, is_up ? high + beyond : low - beyond);
}

static struct value step_number(const struct param *param,
                                const struct value *parent, struct rng *rng)
{
    double factor = rng_uniform(rng) < 0.5 ? grow : shrink;
    double x = value_number(parent), to = multiply(param->scale, x, factor);
    struct value clipped = value_real(fmin(fmax(to, param->min), param->max));
    struct value stepped;

    if (param_cardinality(param) == 0)
        return clipped;
    stepped = param_from_unit(param, param_to_unit(param, &clipped));
    if (value_number(&stepped) != x)
        return stepped;
    return neighbour(param, param_to_unit(param, parent),
                     to == x ? factor > 1 : to > x);
}

static struct value step(const struct param *param, const struct value *parent,
                         double resample, struct rng *rng)
{
    bool is_fresh = rng_uniform(rng) < resample || parent->type == VALUE_NULL;

    switch (param->kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        if (!is_fresh)
            return step_number(param, parent, rng);
        break;
    case PARAM_ORDINAL:
        if (!is_fresh)
            return neighbour(param, param_to_unit(param, parent),
                             rng_uniform(rng) < 0.5);
        break;
    case PARAM_CATEGORICAL:
    case PARAM_BOOL:
    case PARAM_CONST:
        break;
    }
    return param_from_unit(param, rng_uniform(rng));
}

/* With texts that belong to the space. */
static void copy(const struct space *space, const struct value *parent,
                 struct value *point)
{
    for (size_t i = 0; i < space_count(space); i++)
        if (param_coerce(space_param(space, i), &parent[i], &point[i]) < 0)
            point[i] = value_null();
}

void explore_point(struct space *space, double resample, struct rng *rng,
                   const struct value *parent, struct value *point)
{
    for (int tries = 0; tries < TRIES; tries++) {
        for (size_t i = 0; i < space_count(space); i++)
            point[i] = step(space_param(space, i), &parent[i], resample, rng);
        space_apply_conditions(space, point);
        if (space_feasible(space, point))
            return;
    }
    copy(space, parent, point);
}
