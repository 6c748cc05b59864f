/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/models/variation.h"

#include <math.h>

#include "base/rng.h"
#include "strategies/history/history.h"
#include "strategies/space/space.h"

/* How close children are to their parents: Deb's eta. */
static const double crossover_index = 10, mutation_index = 10;

static bool has_order(const struct param *param)
{
    return param->kind != PARAM_CATEGORICAL && param->kind != PARAM_BOOL;
}

/* What leaves the unit interval is mirrored at its end: scaled distributions
 * that do not reach beyond it would draw children to the middle. */
static double mirror(double x)
{
    x = fmod(fabs(x), 2);
    return x > 1 ? 2 - x : x;
}

static double cross_numbers(double a, double b, struct rng *rng)
{
    double u = rng_uniform(rng), power = 1 / (crossover_index + 1);
    double spread = pow(u < 0.5 ? 2 * u : 1 / (2 - 2 * u), power);
    double middle = (a + b) / 2;

    return mirror(middle +
                  (rng_uniform(rng) < 0.5 ? spread : -spread) * (a - b) / 2);
}

void variation_cross(const struct space *space, const double *mother,
                     const double *father, struct rng *rng, double *child)
{
    for (size_t i = 0; i < space_count(space); i++) {
        double a = mother[i], b = father[i];
        bool first = rng_uniform(rng) < 0.5;

        if (isnan(a) || isnan(b))
            child[i] = isnan(a) ? b : a;
        else if (has_order(space_param(space, i)) && first)
            child[i] = cross_numbers(a, b, rng);
        else
            child[i] = first ? b : a;
    }
}

static double mutate_number(const struct param *param, double u,
                            struct rng *rng)
{
    double r = rng_uniform(rng), low, high;
    double delta = 1 - pow(2 * fmin(r, 1 - r), 1 / (mutation_index + 1));
    bool is_down = r < 0.5;

    param_share(param, u, &low, &high);
    u += is_down ? -delta : delta;
    if (low < high && u >= low && u < high) /* the value next to it */
        u = is_down ? low - (high - low) * 1e-3 : high + (high - low) * 1e-3;
    return mirror(u);
}

static double mutate_choice(const struct param *param, double u,
                            struct rng *rng)
{
    uint64_t n = param_cardinality(param), k = history_choice(u, n), other;

    if (n < 2)
        return u;
    other = rng_below(rng, n - 1);
    return ((double)(other + (other >= k)) + 0.5) / (double)n;
}

static void mutate_one(const struct space *space, size_t index, struct rng *rng,
                       double *child)
{
    const struct param *param = space_param(space, index);

    child[index] = has_order(param) ? mutate_number(param, child[index], rng)
                                    : mutate_choice(param, child[index], rng);
}

void variation_mutate(const struct space *space, double probability,
                      struct rng *rng, double *child)
{
    size_t count = space_count(space), active = 0, chosen = count;
    bool changed = false;

    for (size_t i = 0; i < count; i++) {
        bool mutates = rng_uniform(rng) < probability;

        if (space_param(space, i)->kind == PARAM_CONST || isnan(child[i])) {
            child[i] = rng_uniform(rng);
            continue;
        }
        if (rng_below(rng, ++active) == 0)
            chosen = i;
        if (mutates)
            mutate_one(space, i, rng, child);
        changed |= mutates;
    }
    if (!changed && chosen < count)
        mutate_one(space, chosen, rng, child);
}
