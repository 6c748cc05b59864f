/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/maximise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/gp/lbfgs.h"

enum {
    SPREAD_MIN = 200, /* candidates over the box, and more for each axis */
    SPREAD_PER_AXIS = 30,
    SPREAD_MAX = 1000,
    NEAR_EACH = 60, /* candidates around each anchor */
    LOOKS = 20,     /* for each candidate that is wanted */
    ASCENTS_SPREAD = 4,
    ASCENTS_NEAR = 4,
    ASCENTS = ASCENTS_SPREAD + ASCENTS_NEAR,
    EVALUATIONS = 40,  /* of an ascent */
    ROUNDS = 3,        /* of ascents and steps in finite parameters */
    STEPS = 20,        /* to neighbours in a round */
    ALTERNATIVES = 12, /* values of an axis that are looked at in a step */
    CHANGED = 20 /* axes changed on average in a candidate near an anchor */
};

/* Points with their acquisitions. */
struct pool {
    double *units;   /* [count][params] */
    double *columns; /* [count][width] */
    double *values;  /* [count] */
    size_t count, capacity;
};

struct search {
    struct maximise *given;
    const struct ask *ask;
    size_t params, axes, width;
    double *unit, *columns; /* of one point */
    struct value *point;
    struct acquisition_room room;
};

static void pool_create(struct pool *pool, const struct search *search,
                        size_t capacity)
{
    *pool = (struct pool){
        .units = mem_array(capacity * search->params, sizeof(double)),
        .columns = mem_array(capacity * search->width, sizeof(double)),
        .values = mem_array(capacity, sizeof(double)),
        .capacity = capacity,
    };
}

static void pool_destroy(struct pool *pool)
{
    free(pool->units);
    free(pool->columns);
    free(pool->values);
}

static void pool_add(struct pool *pool, const struct search *search,
                     const double *unit, const double *columns)
{
    memcpy(pool->units + pool->count * search->params, unit,
           search->params * sizeof(*unit));
    memcpy(pool->columns + pool->count * search->width, columns,
           search->width * sizeof(*columns));
    pool->count++;
}

static void evaluate(struct search *search, struct pool *pool)
{
    acquisition_evaluate(search->given->acquisition, &search->room,
                         pool->columns, pool->count, pool->values, NULL);
}

static double normal(struct rng *rng)
{
    double radius = sqrt(-2 * log1p(-rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static const struct domain_axis *axis_at(const struct search *search, size_t k)
{
    return domain_axis(search->given->domain, k);
}

static double draw_axis(struct search *search, size_t k)
{
    const struct maximise *given = search->given;
    double u = rng_uniform(&search->given->rng);

    if (axis_at(search, k)->kind == DOMAIN_CHOICE)
        return u;
    return given->low[k] + u * (given->high[k] - given->low[k]);
}

static void draw_spread(struct search *search)
{
    for (size_t k = 0; k < search->axes; k++)
        search->unit[axis_at(search, k)->param] = draw_axis(search, k);
}

/* A step of a normal distribution, reflected at the ends; of a finite number,
 * at least to its neighbour. */
static double shift_axis(struct search *search, size_t k, double u, double size)
{
    const struct maximise *given = search->given;
    const struct domain_axis *axis = axis_at(search, k);
    double length = fmin(exp(given->log_lengths[k]), 1);
    double step = size * length * normal(&search->given->rng);
    double low = given->low[k], high = given->high[k];

    if (axis->kind == DOMAIN_NUMBER) {
        double least = 1 / (double)axis->cardinality;

        step = step < 0 ? fmin(step, -least) : fmax(step, least);
    }
    u += step;
    if (u < low)
        u = 2 * low - u;
    else if (u > high)
        u = 2 * high - u;
    return clamp(u, low, high);
}

static void draw_near(struct search *search, const double *anchor)
{
    struct rng *rng = &search->given->rng;
    double size = exp(-5 * rng_uniform(rng));
    double share = fmin(1, CHANGED / (double)search->axes);
    size_t always;

    if (rng_uniform(rng) < 0.5)
        share = fmin(share, 2 / (double)search->axes);
    always = rng_below(rng, search->axes);
    for (size_t k = 0; k < search->axes; k++) {
        size_t param = axis_at(search, k)->param;
        double u = anchor[param];
        bool changes = rng_uniform(rng) < share || k == always;

        if (isnan(u) || (changes && axis_at(search, k)->kind == DOMAIN_CHOICE))
            search->unit[param] = draw_axis(search, k);
        else
            search->unit[param] = changes ? shift_axis(search, k, u, size)
                                          : clamp(u, search->given->low[k],
                                                  search->given->high[k]);
    }
}

/* Feasible ones among so many draws; anchor NULL: over the whole box. */
static void add_candidates(struct search *search, struct pool *pool,
                           const double *anchor, size_t wanted)
{
    for (size_t i = 0, got = 0; i < wanted * LOOKS && got < wanted; i++) {
        if (anchor == NULL)
            draw_spread(search);
        else
            draw_near(search, anchor);
        if (!domain_settle(search->given->domain, search->unit, false,
                           search->point, search->columns))
            continue;
        pool_add(pool, search, search->unit, search->columns);
        got++;
    }
}

/* The best `count` of pool[from..to] to starts. */
static void pick_starts(const struct search *search, const struct pool *pool,
                        size_t from, size_t to, size_t count,
                        struct pool *starts)
{
    size_t picked[ASCENTS] = {0};

    for (size_t c = 0; c < count; c++) {
        size_t best = SIZE_MAX;

        for (size_t i = from; i < to; i++) {
            bool is_free = true;

            for (size_t j = 0; j < c; j++)
                is_free &= picked[j] != i;
            if (is_free &&
                (best == SIZE_MAX || pool->values[i] > pool->values[best]))
                best = i;
        }
        if (best == SIZE_MAX)
            return;
        picked[c] = best;
        starts->values[starts->count] = pool->values[best];
        pool_add(starts, search, pool->units + best * search->params,
                 pool->columns + best * search->width);
    }
}

/* Whether a gradient is of use along an axis. */
static bool is_smooth(const struct domain_axis *axis)
{
    return axis->kind == DOMAIN_REAL ||
           (axis->kind == DOMAIN_NUMBER && axis->cardinality > ALTERNATIVES);
}

/* Ascents in the smooth axes, each measured in its length scale. */
struct ascents {
    struct lbfgs *runs[ASCENTS];
    bool is_feasible[ASCENTS];
    size_t count, n;
    size_t *axes;   /* [n] */
    double *scales; /* [n] */
};

static void start_ascents(struct search *search, const struct pool *starts,
                          struct ascents *ascents)
{
    static const struct lbfgs_options options = {.evaluations = EVALUATIONS,
                                                 .gradient = 1e-4,
                                                 .decrease = 1e-5,
                                                 .first_step = 0.2};
    double *cells = mem_array(3 * search->axes + 1, sizeof(*cells));
    const struct maximise *given = search->given;

    *ascents = (struct ascents){
        .count = starts->count,
        .axes = mem_array(search->axes + 1, sizeof(*ascents->axes)),
        .scales = mem_array(search->axes + 1, sizeof(*ascents->scales)),
    };
    for (size_t k = 0; k < search->axes; k++) {
        if (!is_smooth(axis_at(search, k)))
            continue;
        ascents->scales[ascents->n] = exp(given->log_lengths[k]);
        ascents->axes[ascents->n++] = k;
    }
    for (size_t r = 0; r < starts->count; r++) {
        double *low = cells, *high = low + ascents->n;
        double *at = high + ascents->n;

        for (size_t i = 0; i < ascents->n; i++) {
            size_t k = ascents->axes[i];

            low[i] = given->low[k] / ascents->scales[i];
            high[i] = given->high[k] / ascents->scales[i];
            at[i] =
                starts->units[r * search->params + axis_at(search, k)->param] /
                ascents->scales[i];
        }
        ascents->runs[r] = lbfgs_create(ascents->n, low, high, at, &options);
    }
    free(cells);
}

static void end_ascents(struct ascents *ascents)
{
    for (size_t r = 0; r < ascents->count; r++)
        lbfgs_destroy(ascents->runs[r]);
    free(ascents->axes);
    free(ascents->scales);
}

static void place(const struct search *search, const struct ascents *ascents,
                  const double *at, double *unit)
{
    for (size_t i = 0; i < ascents->n; i++)
        unit[axis_at(search, ascents->axes[i])->param] =
            at[i] * ascents->scales[i];
}

/* One evaluation of each run that has not ended. False when all have. */
static bool step_ascents(struct search *search, struct pool *starts,
                         struct ascents *ascents, double *gradients,
                         double *slope)
{
    size_t width = search->width, open[ASCENTS], count = 0;
    double values[ASCENTS];

    for (size_t r = 0; r < ascents->count; r++) {
        const double *at = lbfgs_next(ascents->runs[r]);
        double *unit = starts->units + r * search->params;

        if (at == NULL)
            continue;
        place(search, ascents, at, unit);
        ascents->is_feasible[count] =
            domain_settle(search->given->domain, unit, true, search->point,
                          starts->columns + count * width);
        open[count++] = r;
    }
    acquisition_evaluate(search->given->acquisition, &search->room,
                         starts->columns, count, values, gradients);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < ascents->n; j++) {
            const struct domain_axis *axis = axis_at(search, ascents->axes[j]);

            slope[j] =
                -gradients[i * width + axis->column] * ascents->scales[j];
        }
        lbfgs_tell(ascents->runs[open[i]],
                   ascents->is_feasible[i] ? -values[i] : (double)INFINITY,
                   slope);
    }
    return count > 0;
}

/* Moves each start uphill; then to real values and their acquisition. */
static void ascend(struct search *search, struct pool *starts)
{
    size_t cells = ASCENTS * search->width + search->axes + 1;
    double *gradients = mem_array(cells, sizeof(*gradients));
    struct ascents ascents;

    start_ascents(search, starts, &ascents);
    if (ascents.n > 0)
        while (step_ascents(search, starts, &ascents, gradients,
                            gradients + ASCENTS * search->width))
            continue;
    for (size_t r = 0; r < starts->count; r++) {
        double *unit = starts->units + r * search->params;

        place(search, &ascents, lbfgs_best(ascents.runs[r], NULL), unit);
    }
    end_ascents(&ascents);
    free(gradients);
}

/* Settles and evaluates; what the constraints do not accept is worth -inf. */
static void settle(struct search *search, struct pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        pool->values[i] =
            domain_settle(search->given->domain,
                          pool->units + i * search->params, false,
                          search->point, pool->columns + i * search->width)
                ? 0
                : -(double)INFINITY;
    for (size_t i = 0; i < pool->count; i++) {
        double value;

        acquisition_evaluate(search->given->acquisition, &search->room,
                             pool->columns + i * search->width, 1, &value,
                             NULL);
        pool->values[i] += value;
    }
}

/* The values of an axis that a step may go to, as unit coordinates: all where
 * they are few; else neighbours, and some at random. */
static size_t list_alternatives(struct search *search, size_t k, double u,
                                double *alternatives)
{
    const struct domain_axis *axis = axis_at(search, k);
    uint64_t n = axis->cardinality;
    size_t count = 0;

    if (axis->kind == DOMAIN_REAL)
        return 0;
    if (n <= ALTERNATIVES) {
        for (; count < n; count++)
            alternatives[count] =
                domain_unit_of(search->given->domain, k, count);
        return count;
    }
    if (axis->kind == DOMAIN_NUMBER)
        for (; count < ALTERNATIVES / 2; count++)
            alternatives[count] = domain_neighbour(
                search->given->domain, k, u, (int)count - ALTERNATIVES / 4);
    for (; count < ALTERNATIVES; count++)
        alternatives[count] = draw_axis(search, k);
    return count;
}

/* Moves a start to the best of its neighbours in one finite parameter; false
 * when none is better. */
static bool step_start(struct search *search, struct pool *starts, size_t r,
                       struct pool *pool)
{
    double alternatives[ALTERNATIVES];
    double *unit = starts->units + r * search->params;
    size_t best = SIZE_MAX;

    pool->count = 0;
    memcpy(search->unit, unit, search->params * sizeof(*unit));
    for (size_t k = 0; k < search->axes; k++) {
        size_t param = axis_at(search, k)->param;
        size_t count = list_alternatives(search, k, unit[param], alternatives);

        for (size_t i = 0; i < count && pool->count < pool->capacity; i++) {
            search->unit[param] = alternatives[i];
            if (domain_settle(search->given->domain, search->unit, false,
                              search->point, search->columns))
                pool_add(pool, search, search->unit, search->columns);
        }
        search->unit[param] = unit[param];
    }
    evaluate(search, pool);
    for (size_t i = 0; i < pool->count; i++)
        if (best == SIZE_MAX || pool->values[i] > pool->values[best])
            best = i;
    if (best == SIZE_MAX || !(pool->values[best] > starts->values[r] + 1e-9))
        return false;
    memcpy(unit, pool->units + best * search->params,
           search->params * sizeof(*unit));
    memcpy(starts->columns + r * search->width,
           pool->columns + best * search->width,
           search->width * sizeof(*pool->columns));
    starts->values[r] = pool->values[best];
    return true;
}

static size_t count_finite(const struct search *search)
{
    size_t count = 0;

    for (size_t k = 0; k < search->axes; k++)
        count += axis_at(search, k)->kind != DOMAIN_REAL;
    return count;
}

static bool walk(struct search *search, struct pool *starts)
{
    size_t finite = count_finite(search);
    bool moved = false;
    struct pool pool;

    if (finite == 0)
        return false;
    pool_create(&pool, search, finite * ALTERNATIVES);
    for (size_t r = 0; r < starts->count; r++)
        for (int step = 0; step < STEPS; step++) {
            if (!step_start(search, starts, r, &pool))
                break;
            moved = true;
        }
    pool_destroy(&pool);
    return moved;
}

/* Keeps for each start the better of before and after. */
static void improve(struct search *search, struct pool *starts)
{
    size_t units = starts->count * search->params;
    double *before = mem_array(units + starts->count, sizeof(*before));

    for (int round = 0; round < ROUNDS; round++) {
        memcpy(before, starts->units, units * sizeof(*before));
        memcpy(before + units, starts->values, starts->count * sizeof(*before));
        ascend(search, starts);
        settle(search, starts);
        for (size_t r = 0; r < starts->count; r++) {
            if (starts->values[r] >= before[units + r])
                continue;
            memcpy(starts->units + r * search->params,
                   before + r * search->params,
                   search->params * sizeof(*before));
            starts->values[r] = before[units + r];
        }
        if (!walk(search, starts))
            break;
    }
    free(before);
}

/* The best of a pool that is new, into ask->point. */
static bool take_best(struct search *search, struct pool *pool, double *columns,
                      double *value)
{
    for (size_t tries = 0; tries < pool->count; tries++) {
        size_t best = 0;

        for (size_t i = 1; i < pool->count; i++)
            if (pool->values[i] > pool->values[best])
                best = i;
        if (!(pool->values[best] > -(double)INFINITY))
            return false;
        space_decode(search->ask->space, pool->units + best * search->params,
                     search->ask->point);
        if (ask_accepts(search->ask, search->ask->point)) {
            domain_settle(search->given->domain,
                          pool->units + best * search->params, false,
                          search->point, columns);
            *value = pool->values[best];
            return true;
        }
        pool->values[best] = -(double)INFINITY;
    }
    return false;
}

static bool search_run(struct search *search, double *columns, double *value)
{
    const struct maximise *given = search->given;
    size_t spread = SPREAD_MIN + SPREAD_PER_AXIS * search->axes, from;
    struct pool pool, starts;
    bool found;

    if (spread > SPREAD_MAX)
        spread = SPREAD_MAX;
    pool_create(&pool, search, spread + NEAR_EACH * given->anchor_count);
    pool_create(&starts, search, ASCENTS);
    add_candidates(search, &pool, NULL, spread);
    from = pool.count;
    for (size_t a = 0; a < given->anchor_count; a++)
        add_candidates(search, &pool, given->anchors[a], NEAR_EACH);
    evaluate(search, &pool);
    pick_starts(search, &pool, 0, from, ASCENTS_SPREAD, &starts);
    pick_starts(search, &pool, from, pool.count, ASCENTS_NEAR, &starts);
    improve(search, &starts);
    found = take_best(search, &starts, columns, value) ||
            take_best(search, &pool, columns, value);
    pool_destroy(&pool);
    pool_destroy(&starts);
    return found;
}

bool maximise_run(struct maximise *maximise, const struct ask *ask,
                  double *columns, double *value)
{
    const struct gp_shape *shape = domain_shape(maximise->domain);
    size_t params = space_count(ask->space);
    struct search search = {
        .given = maximise,
        .ask = ask,
        .params = params,
        .axes = domain_count(maximise->domain),
        .width = shape->column_count,
        .unit = mem_array(params, sizeof(double)),
        .columns = mem_array(shape->column_count, sizeof(double)),
        .point = mem_array(params, sizeof(struct value)),
    };
    bool found = search_run(&search, columns, value);

    free(search.unit);
    free(search.columns);
    free(search.point);
    acquisition_room_clear(&search.room);
    return found;
}
