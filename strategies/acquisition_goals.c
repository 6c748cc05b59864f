/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/acquisition.h"
#include "strategies/acquisition_impl.h"

/*
 * The expected improvement of the least of several independent normals:
 *
 *     integral over t > 0 of prod_j Phi((bound_j - share_j t - mean_j) / dev_j)
 *
 * by the trapezoidal rule in log t, which for such integrands converges fast,
 * around the scale of the objective that falls off first.
 */

enum { NODES = 16 };

static const double first_node = -5.4, node_step = 0.6;

/* What a point's predictions are, and then the value's derivatives by them. */
struct outlook {
    double mean, deviation;
    double by_mean, by_deviation;
};

static double find_log_scale(const struct acquisition *acquisition,
                             const struct outlook *outlook)
{
    double least = (double)INFINITY;

    for (size_t j = 0; j < acquisition->goal_count; j++) {
        const struct acquisition_goal *goal = &acquisition->goals[j];
        double deviation = outlook[j].deviation, cdf, pdf;

        acquisition_log_improvement((goal->bound - outlook[j].mean) / deviation,
                                    &cdf, &pdf);
        least = fmin(least, log(deviation / goal->share / cdf));
    }
    return least;
}

static double integrate(const struct acquisition *acquisition,
                        struct outlook *outlook)
{
    double scale = find_log_scale(acquisition, outlook);
    double logs[NODES], slopes[NODES][ACQUISITION_GOALS_MAX];
    double z[NODES][ACQUISITION_GOALS_MAX], largest = -(double)INFINITY;
    double sum = 0;

    for (size_t k = 0; k < NODES; k++) {
        double at = scale + first_node + (double)k * node_step;

        logs[k] = at + log(node_step);
        for (size_t j = 0; j < acquisition->goal_count; j++) {
            const struct acquisition_goal *goal = &acquisition->goals[j];

            z[k][j] = (goal->bound - goal->share * exp(at) - outlook[j].mean) /
                      outlook[j].deviation;
            logs[k] += acquisition_log_probability(z[k][j], &slopes[k][j]);
        }
        largest = fmax(largest, logs[k]);
    }
    for (size_t k = 0; k < NODES; k++)
        sum += exp(logs[k] - largest);
    for (size_t j = 0; j < acquisition->goal_count; j++) {
        outlook[j].by_mean = outlook[j].by_deviation = 0;
        for (size_t k = 0; k < NODES; k++) {
            double pull = exp(logs[k] - largest) / sum * slopes[k][j] /
                          outlook[j].deviation;

            outlook[j].by_mean -= pull;
            outlook[j].by_deviation -= pull * z[k][j];
        }
    }
    return largest + log(sum);
}

static void pull_goal(const struct acquisition_goal *goal,
                      const struct outlook *outlook,
                      const struct gp_query *query, size_t p, double *pulls)
{
    const double *solved = query->solved + p * query->rows;
    const double *weights = gp_weights(goal->gp);

    for (size_t i = 0; i < query->rows; i++)
        pulls[i] = outlook->by_mean * weights[i] -
                   outlook->by_deviation / outlook->deviation * solved[i];
}

/* outlooks[count][goal_count]: the derivatives, to the columns' gradients. */
static void add_gradients(const struct acquisition *acquisition,
                          struct acquisition_room *room,
                          const struct outlook *outlooks, size_t count,
                          double *gradients)
{
    for (size_t j = 0; j < acquisition->goal_count; j++) {
        const struct gp_query *query = &room->goals[j];
        double *pulls = acquisition_reserve_pulls(room, count * query->rows);

        for (size_t p = 0; p < count; p++)
            pull_goal(&acquisition->goals[j],
                      &outlooks[p * acquisition->goal_count + j], query, p,
                      pulls + p * query->rows);
        gp_add_gradients(acquisition->goals[j].gp, query, pulls, gradients);
    }
}

void acquisition_add_goals(const struct acquisition *acquisition,
                           struct acquisition_room *room, const double *points,
                           size_t count, double *values, double *gradients)
{
    size_t goals = acquisition->goal_count;
    struct outlook *outlooks = mem_array(count * goals, sizeof(*outlooks));

    for (size_t j = 0; j < goals; j++) {
        struct gp_query *query = &room->goals[j];

        gp_predict(acquisition->goals[j].gp, points, count, query);
        for (size_t p = 0; p < count; p++) {
            outlooks[p * goals + j].mean =
                gp_mean_at(acquisition->goals[j].gp, query, p);
            outlooks[p * goals + j].deviation = sqrt(query->variance[p]);
        }
    }
    for (size_t p = 0; p < count; p++)
        values[p] += integrate(acquisition, outlooks + p * goals);
    if (gradients != NULL)
        add_gradients(acquisition, room, outlooks, count, gradients);
    free(outlooks);
}
