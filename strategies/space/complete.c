/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings of which a user gave some of the values.
 *
 * The others are drawn, all at once, until the setting keeps what was given:
 * a draw that makes a given parameter inactive does not count, so the
 * parameters that it depends on follow from it. That is rejection sampling: it
 * needs no inverse of conditions and constraints, which are any expressions.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "strategies/space/space.h"

enum { TRIES = 10000 };

/* A parameter that was given and is inactive in the point; SIZE_MAX: none. */
static size_t find_lost(const struct space *space, const struct value *values,
                        const struct value *point)
{
    for (size_t i = 0; i < space_count(space); i++)
        if (values[i].type != VALUE_NULL && point[i].type == VALUE_NULL)
            return i;
    return SIZE_MAX;
}

static void draw(struct space *space, struct rng *rng,
                 const struct value *values, struct value *point)
{
    for (size_t i = 0; i < space_count(space); i++) {
        double unit = rng_uniform(rng);

        point[i] = values[i].type != VALUE_NULL
                       ? values[i]
                       : param_from_unit(space_param(space, i), unit);
    }
    space_apply_conditions(space, point);
}

int space_complete(struct space *space, struct rng *rng,
                   const struct value *values, struct value *point,
                   struct err *err)
{
    size_t lost = SIZE_MAX;
    bool is_lost_each_time = true;

    if (!space_feasible(space, values))
        return err_set(err, ERR_USAGE, "this setting violates a constraint");
    for (int i = 0; i < TRIES; i++) {
        size_t found;

        draw(space, rng, values, point);
        found = find_lost(space, values, point);
        if (found == SIZE_MAX && space_feasible(space, point))
            return 0;
        if (found == SIZE_MAX)
            is_lost_each_time = false;
        else
            lost = found;
    }
    if (is_lost_each_time)
        return err_set(err, ERR_USAGE,
                       "parameter '%s' is inactive with these values (it is "
                       "active when %s)",
                       space_param(space, lost)->name, space_when(space, lost));
    return err_set(err, ERR_USAGE,
                   "no setting with these values satisfies the constraints "
                   "(%d tried)",
                   TRIES);
}

bool space_is_whole(const struct space *space, const struct value *values,
                    const struct value *point)
{
    for (size_t i = 0; i < space_count(space); i++)
        if (!value_is_null(&point[i]) && value_is_null(&values[i]) &&
            param_cardinality(space_param(space, i)) != 1)
            return false;
    return true;
}
