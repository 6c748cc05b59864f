/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/acquisition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sf_erf.h>

#include "base/mem.h"
#include "strategies/gp/acquisition_impl.h"

enum { CHUNK = 128 };

static const double log_sqrt_2_pi = 0.91893853320467274178;
/* Below this, an asymptotic series is exact to all digits. */
static const double far_tail = -40;

double acquisition_log_improvement(double z, double *cdf, double *pdf)
{
    double log_density = -0.5 * z * z - log_sqrt_2_pi, mills, rest, square;

    if (z > -1) {
        double density = exp(log_density);
        double below = 0.5 * erfc(-z * M_SQRT1_2);
        double improvement = density + z * below;

        *cdf = below / improvement;
        *pdf = density / improvement;
        return log(improvement);
    }
    if (z > far_tail) {
        mills = 1 / gsl_sf_hazard(-z);
        rest = 1 + z * mills;
    } else {
        square = 1 / (z * z);
        rest = square * (1 - square * (3 - square * (15 - 105 * square)));
        mills = -(1 - rest) / z;
    }
    *cdf = mills / rest;
    *pdf = 1 / rest;
    return log_density + log(rest);
}

double acquisition_log_probability(double z, double *slope)
{
    *slope = gsl_sf_hazard(-z);
    return gsl_sf_log_erfc(-z * M_SQRT1_2) - M_LN2;
}

void acquisition_room_clear(struct acquisition_room *room)
{
    gp_query_clear(&room->query);
    for (size_t j = 0; j < ACQUISITION_GOALS_MAX; j++)
        gp_query_clear(&room->goals[j]);
    free(room->means);
    free(room->pulls);
    *room = (struct acquisition_room){0};
}

static void reserve(double **cells, size_t *capacity, size_t count)
{
    if (count <= *capacity)
        return;
    *cells = mem_resize(*cells, count, sizeof(**cells));
    *capacity = count;
}

double *acquisition_reserve_means(struct acquisition_room *room, size_t count)
{
    reserve(&room->means, &room->means_capacity, count + 1);
    return room->means;
}

double *acquisition_reserve_pulls(struct acquisition_room *room, size_t count)
{
    reserve(&room->pulls, &room->pulls_capacity, count + 1);
    return room->pulls;
}

/* One point's value; its derivatives by the means, in place of them, and by
 * the deviation. */
static double average_improvement(const struct acquisition *acquisition,
                                  double deviation, double *means,
                                  double *by_deviation)
{
    size_t n = acquisition->fantasy_count;
    double logs[ACQUISITION_FANTASIES_MAX], pdfs[ACQUISITION_FANTASIES_MAX];
    double largest = -(double)INFINITY, sum = 0;

    for (size_t f = 0; f < n; f++) {
        double z = (acquisition->targets[f] - means[f]) / deviation;

        logs[f] = acquisition_log_improvement(z, &means[f], &pdfs[f]);
        largest = fmax(largest, logs[f]);
    }
    *by_deviation = 0;
    for (size_t f = 0; f < n; f++)
        sum += exp(logs[f] - largest);
    for (size_t f = 0; f < n; f++) {
        double share = exp(logs[f] - largest) / sum / deviation;

        means[f] *= -share;
        *by_deviation += share * pdfs[f];
    }
    return log(deviation) + largest + log(sum / (double)n);
}

static void pull_objective(const struct acquisition *acquisition,
                           const double *by_means, double by_deviation,
                           const struct gp_query *query, size_t p,
                           double *pulls)
{
    const double *solved = query->solved + p * query->rows;
    double by_solved = -by_deviation / sqrt(query->variance[p]);

    for (size_t i = 0; i < query->rows; i++)
        pulls[i] = by_solved * solved[i];
    for (size_t f = 0; f < acquisition->fantasy_count; f++) {
        const double *weights = acquisition->weights + f * query->rows;

        for (size_t i = 0; i < query->rows; i++)
            pulls[i] += by_means[f] * weights[i];
    }
}

static void add_objective(const struct acquisition *acquisition,
                          struct acquisition_room *room, const double *points,
                          size_t count, double *values, double *gradients)
{
    struct gp_query *query = &room->query;
    size_t n = acquisition->fantasy_count;
    double mean = gp_mean(acquisition->objective);

    gp_predict(acquisition->objective, points, count, query);
    acquisition_reserve_means(room, count * n);
    acquisition_reserve_pulls(room, count * query->rows);
    linalg_multiply(acquisition->linalg, query->solved, count, query->rows,
                    acquisition->weights, n, room->means);
    for (size_t p = 0; p < count; p++) {
        double *means = room->means + p * n;
        double by_deviation;

        for (size_t f = 0; f < n; f++)
            means[f] += mean;
        values[p] += average_improvement(acquisition, sqrt(query->variance[p]),
                                         means, &by_deviation);
        if (gradients != NULL)
            pull_objective(acquisition, means, by_deviation, query, p,
                           room->pulls + p * query->rows);
    }
    if (gradients != NULL)
        gp_add_gradients(acquisition->objective, query, room->pulls, gradients);
}

static void add_limit(const struct acquisition_limit *limit,
                      struct acquisition_room *room, const double *points,
                      size_t count, double *values, double *gradients)
{
    struct gp_query *query = &room->query;
    const double *weights = gp_weights(limit->gp);

    gp_predict(limit->gp, points, count, query);
    acquisition_reserve_pulls(room, count * query->rows);
    for (size_t p = 0; p < count; p++) {
        const double *solved = query->solved + p * query->rows;
        double *pulls = room->pulls + p * query->rows;
        double deviation = sqrt(query->variance[p]);
        double z = (limit->most - gp_mean_at(limit->gp, query, p)) / deviation;
        double slope;

        values[p] += acquisition_log_probability(z, &slope);
        for (size_t i = 0; gradients != NULL && i < query->rows; i++)
            pulls[i] =
                slope / deviation * (z / deviation * solved[i] - weights[i]);
    }
    if (gradients != NULL)
        gp_add_gradients(limit->gp, query, room->pulls, gradients);
}

void acquisition_evaluate(const struct acquisition *acquisition,
                          struct acquisition_room *room, const double *points,
                          size_t count, double *values, double *gradients)
{
    const struct gp *any =
        acquisition->objective != NULL ? acquisition->objective
        : acquisition->goal_count > 0  ? acquisition->goals[0].gp
                                       : acquisition->limits[0].gp;
    size_t width = gp_shape(any)->column_count;

    memset(values, 0, count * sizeof(*values));
    if (gradients != NULL)
        memset(gradients, 0, count * width * sizeof(*gradients));
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t size = count - at < CHUNK ? count - at : CHUNK;
        const double *from = points + at * width;
        double *slopes = gradients != NULL ? gradients + at * width : NULL;

        if (acquisition->objective != NULL)
            add_objective(acquisition, room, from, size, values + at, slopes);
        if (acquisition->goal_count > 0)
            acquisition_add_goals(acquisition, room, from, size, values + at,
                                  slopes);
        for (size_t l = 0; l < acquisition->limit_count; l++)
            add_limit(&acquisition->limits[l], room, from, size, values + at,
                      slopes);
    }
}
